// SPDX-License-Identifier: Apache-2.0
// Which code holds the memory: call paths as a flame, and lines as a table.
import { useMemo, useState } from 'preact/hooks';
import { bySite, kMetrics, kMetricWords, stackTree, type Metric, type Node } from '../model/stacks';
import { bytes, count, exactBytes, percent, place, plain } from '../model/words';
import { go, program, route } from '../store';

const kNarrowest = 0.002; // of the width
const kDeepest = 60;

export function StacksView() {
  const p = program.value!;
  const metric = kMetrics.find((m) => m === route.value.metric) ?? 'peak';
  const root = useMemo(() => stackTree(p, metric), [p, metric]);
  const sites = useMemo(() => bySite(p, metric), [p, metric]);
  const [focus, setFocus] = useState<Node | null>(null);
  const top = focus ?? root;
  const show = metric === 'objects' ? count : bytes;
  return (
    <div>
      <div class="bar">
        <h2>Stacks</h2>
        <label>Measure <select value={metric} onChange={(e) => { setFocus(null); go({ metric: e.currentTarget.value as Metric }); }}>{kMetrics.map((m) => <option key={m} value={m}>{kMetricWords[m]}</option>)}</select></label>
        <span><b>{show(top.value)}</b> {kMetricWords[metric]}</span>
        {focus && <button onClick={() => setFocus(null)}>Show all</button>}
      </div>
      {root.value === 0 ? <p>There is nothing to show by this measure.</p> : <Flame top={top} focus={setFocus} show={show} />}
      <section class="card" aria-label="By line">
        <h2>By line</h2>
        <table>
          <thead><tr><th>{kMetricWords[metric]}</th><th>Share</th><th>Line</th><th>Objects</th></tr></thead>
          <tbody>
            {sites.slice(0, 200).map((s) => (
              <tr key={s.site}>
                <td class="number" title={metric === 'objects' ? undefined : exactBytes(s.value)}>{show(s.value)}</td>
                <td class="number">{percent(s.value, root.value)}</td>
                <td><button class="link" onClick={() => go({ view: 'objects', query: s.site })}>{s.site}</button></td>
                <td class="number">{count(s.count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {sites.length > 200 && <p class="dim">And {count(sites.length - 200)} more lines with {show(sites.slice(200).reduce((all, s) => all + s.value, 0))} together.</p>}
      </section>
    </div>
  );
}

interface Cell {
  node: Node;
  left: number;
  width: number;
  depth: number;
}
function cellsOf(top: Node): Cell[] {
  const cells: Cell[] = [];
  const visit = (node: Node, left: number, depth: number): void => {
    const width = node.value / top.value;
    if (width < kNarrowest || depth > kDeepest) return;
    cells.push({ node, left, width, depth });
    let x = left;
    for (const child of [...node.children.values()].sort((a, b) => b.value - a.value)) {
      visit(child, x, depth + 1);
      x += child.value / top.value;
    }
  };
  visit(top, 0, 0);
  return cells;
}

function Flame({ top, focus, show }: { top: Node; focus: (n: Node) => void; show: (n: number) => string }) {
  const cells = cellsOf(top);
  const depth = Math.max(...cells.map((c) => c.depth)) + 1;
  return (
    <div class="flame" style={{ height: `${depth * 22}px` }} role="group" aria-label="Call paths, outermost on top">
      {cells.map((c, k) => (
        <button
          key={k}
          class={`tone${(c.node.label.length + c.node.line) % 4}`}
          style={{ left: `${c.left * 100}%`, width: `${c.width * 100}%`, top: `${c.depth * 22}px` }}
          title={`${plain(c.node.label, 200)}\n${place(c.node.file, c.node.line)}\n${show(c.node.value)}, ${percent(c.node.value, top.value)}`}
          onClick={() => focus(c.node)}
        >
          {plain(c.node.label, 80)}{c.node.file === '' ? '' : ` ${place(c.node.file, c.node.line)}`}
        </button>
      ))}
    </div>
  );
}
