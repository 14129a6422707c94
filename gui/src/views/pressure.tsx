// SPDX-License-Identifier: Apache-2.0
// What an allocator holds beyond what is asked of it: reserve, holes, pending frees, and why an allocation failed.
import type { MemoryPressure, PressureMoment, Report } from '../model/report';
import { bytes, count, exactBytes, percent, plain, plural } from '../model/words';
import { go, program, select } from '../store';

const kCauses: Record<string, string> = {
  live: 'What was live did not leave enough',
  pending: 'Memory that the program had freed still waited for streams',
  fragmentation: 'Enough was free, but in no hole that is large enough',
  reserve: 'Other pools held what was free',
};

export function Pressure({ report }: { report: Report }) {
  const { memory_pressure: pressure, pools } = report;
  if (!pressure && !pools) return null;
  return (
    <>
      {pools && (
        <section class="card" aria-label="Pools">
          <h2>Pools: {bytes(pools.reserved_at_peak_bytes)} reserved at the peak, {bytes(pools.allocated_at_peak_bytes)} of it handed out</h2>
          <Share part={pools.allocated_at_peak_bytes} whole={pools.reserved_at_peak_bytes} />
          <p class="dim">{plural(pools.blocks, 'block')}; at most {bytes(pools.reserved_peak_bytes)} reserved and {bytes(pools.allocated_peak_bytes)} handed out.</p>
        </section>
      )}
      {pressure?.out_of_memory.map((oom, k) => <OutOfMemory key={k} oom={oom} />)}
      {pressure?.devices.map((device) => <Device key={device.device} device={device} many={pressure.devices.length > 1} />)}
      {pressure && pressure.growth.length > 0 && (
        <section class="card" aria-label="Growth">
          <h2>Grows from iteration to iteration</h2>
          <table>
            <thead><tr><th>Each iteration</th><th>From</th><th>To</th><th>Place</th></tr></thead>
            <tbody>
              {pressure.growth.slice(0, 50).map((g, k) => (
                <tr key={k}><td class="number bad">+{bytes(g.bytes_per_iteration)}</td><td class="number">{bytes(g.first_bytes)}</td><td class="number">{bytes(g.last_bytes)}</td><td>{g.api ? plain(program.value!.describeCall(g.api.index), 200) : 'unknown place'}</td></tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

function Share({ part, whole }: { part: number; whole: number }) {
  return <span class="meter" title={percent(part, whole)}><i style={{ width: `${whole > 0 ? (100 * part) / whole : 0}%` }} /></span>;
}

function Moment({ title, m }: { title: string; m: PressureMoment }) {
  const fragmentation = m.free_bytes > 0 ? 1 - m.largest_hole_bytes / m.free_bytes : 0;
  return (
    <div>
      <h3>{title}: <b title={exactBytes(m.reserved_bytes)}>{bytes(m.reserved_bytes)}</b> reserved</h3>
      <Share part={m.allocated_bytes} whole={m.reserved_bytes} />
      <dl class="facts">
        <div><dt>In blocks</dt><dd title={exactBytes(m.allocated_bytes)}>{bytes(m.allocated_bytes)}</dd></div>
        {m.pending_bytes > 0 && <div><dt>Pending free</dt><dd title={exactBytes(m.pending_bytes)}>{bytes(m.pending_bytes)}</dd></div>}
        <div><dt>Free inside</dt><dd title={exactBytes(m.free_bytes)}>{bytes(m.free_bytes)}</dd></div>
        <div><dt>Largest hole</dt><dd title={exactBytes(m.largest_hole_bytes)}>{bytes(m.largest_hole_bytes)}</dd></div>
        <div><dt>Holes</dt><dd>{count(m.holes)}</dd></div>
        <div><dt>Fragmentation</dt><dd>{(100 * fragmentation).toFixed(0)} %</dd></div>
      </dl>
      {m.pinned.length > 0 && (
        <p>Segments that little keeps alive: {m.pinned.map((pin, k) => (
          <span key={k}>{k > 0 ? ', ' : ''}{bytes(pin.size_bytes)} for <Block id={pin.block} /> ({bytes(pin.live_bytes)}{pin.blocks > 1 ? ` in ${count(pin.blocks)} blocks` : ''})</span>
        ))}.</p>
      )}
      <button onClick={() => go({ at: m.index })}>What is alive then</button>
    </div>
  );
}

function Block({ id }: { id: number }) {
  const p = program.value!;
  const i = p.place(id);
  return i < 0 ? <>object {id}</> : <button class="link" onClick={() => select(i)}><code>{p.name(i)}</code> {p.siteText(i)}</button>;
}

function Device({ device, many }: { device: MemoryPressure['devices'][number]; many: boolean }) {
  return (
    <section class="card" aria-label={`Allocator of device ${device.device}`}>
      <h2>The caching allocator{many ? ` of device ${device.device}` : ''}: at most {bytes(device.reserved_peak.reserved_bytes)} reserved for {bytes(device.allocated_peak_bytes)} in blocks</h2>
      <div class="columns even">
        <Moment title="At the reserve's peak" m={device.reserved_peak} />
        <Moment title="At the end" m={device.end} />
      </div>
      {device.pools.length > 1 && (
        <table>
          <thead><tr><th>Pool</th><th>Stream</th><th>Segments</th><th>Reserved</th><th>In blocks</th></tr></thead>
          <tbody>{device.pools.slice(0, 50).map((pool) => <tr key={`${pool.pool} ${pool.stream}`}><td>{plain(pool.pool, 60)}</td><td>{plain(pool.stream, 60)}</td><td class="number">{count(pool.segments)}</td><td class="number">{bytes(pool.reserved_bytes)}</td><td class="number">{bytes(pool.allocated_bytes)}</td></tr>)}</tbody>
        </table>
      )}
      {device.streams.length > 0 && device.pending_peak_bytes > 0 && (
        <table>
          <thead><tr><th>Stream</th><th>Pending at most</th><th>Pending at the end</th><th>Frees that waited</th></tr></thead>
          <tbody>{device.streams.slice(0, 50).map((s) => <tr key={s.stream}><td>{plain(s.stream, 60)}</td><td class="number">{bytes(s.pending_peak_bytes)}</td><td class="number">{bytes(s.pending_end_bytes)}</td><td class="number">{count(s.pending_frees)}</td></tr>)}</tbody>
        </table>
      )}
    </section>
  );
}

function OutOfMemory({ oom }: { oom: MemoryPressure['out_of_memory'][number] }) {
  const p = program.value!;
  return (
    <section class="card" aria-label="Out of memory">
      <h2 class="bad">Out of memory: {exactBytes(oom.requested_bytes)} asked for</h2>
      <p>{kCauses[oom.cause] ?? plain(oom.cause)}.{oom.api ? ` ${plain(p.describeCall(oom.api.index), 200)}.` : ''}{oom.device_free_bytes !== undefined ? ` The device had ${bytes(oom.device_free_bytes)} free.` : ''}{oom.planned_bytes !== undefined ? ` One planned pool would have held everything until then, this too, in ${bytes(oom.planned_bytes)}.` : ''}</p>
      <Moment title="Then" m={oom.moment} />
      <table>
        <thead><tr><th>Held</th><th>Blocks</th><th>By</th></tr></thead>
        <tbody>{oom.live.slice(0, 20).map((l, k) => <tr key={k}><td class="number">{bytes(l.bytes)}</td><td class="number">{count(l.blocks)}</td><td>{l.api ? plain(p.describeCall(l.api.index), 200) : 'unknown place'}</td></tr>)}</tbody>
      </table>
    </section>
  );
}
