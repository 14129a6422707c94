// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of an exported database. Sizes are bytes, times nanoseconds. `call` is a place in
// issue order (apis.id), `object` an id of the trace (objects.id). Values beyond 2^63 - 1 stay
// there.

namespace drgpum {

inline constexpr int kSqliteSchemaVersion = 1;  // PRAGMA user_version

inline constexpr const char* kSqliteTables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE devices(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL,
  memory_bytes INTEGER NOT NULL, peak_bytes INTEGER NOT NULL,
  peak_after_all_fixes_bytes INTEGER NOT NULL) STRICT;
CREATE TABLE streams(id INTEGER PRIMARY KEY, device INTEGER NOT NULL, kind TEXT NOT NULL,
  name TEXT NOT NULL) STRICT;
CREATE TABLE frames(id INTEGER PRIMARY KEY, function TEXT NOT NULL, file TEXT NOT NULL,
  line INTEGER NOT NULL) STRICT;
-- depth 0 is the innermost frame; site: the first outside functions that only wrap the call
CREATE TABLE call_paths(id INTEGER NOT NULL, depth INTEGER NOT NULL,
  frame INTEGER NOT NULL REFERENCES frames(id), site INTEGER NOT NULL,
  PRIMARY KEY(id, depth)) STRICT, WITHOUT ROWID;
-- kind: alloc free memcpy memset launch record wait synchronize graph host-function mark
-- begin_ns, end_ns: on the device; bytes, direction: of copies and sets; text: of marks
CREATE TABLE apis(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, stream INTEGER,
  device INTEGER NOT NULL, thread INTEGER NOT NULL, kernel TEXT, call_path INTEGER,
  host_ns INTEGER, begin_ns INTEGER, end_ns INTEGER, bytes INTEGER, direction TEXT, text TEXT,
  failed INTEGER NOT NULL) STRICT;
-- lives from alloc_call on until end_call, which is the number of calls where it lives to the end
CREATE TABLE objects(id INTEGER PRIMARY KEY, name TEXT NOT NULL, size_bytes INTEGER NOT NULL,
  kind TEXT NOT NULL, device INTEGER NOT NULL, parent INTEGER, address INTEGER NOT NULL,
  alloc_call INTEGER NOT NULL, end_call INTEGER NOT NULL, free_call INTEGER, first_access INTEGER,
  last_access INTEGER, call_path INTEGER, detail TEXT, holds_memory INTEGER NOT NULL) STRICT;
CREATE TABLE uses(object INTEGER NOT NULL, call INTEGER NOT NULL, reads INTEGER NOT NULL,
  writes INTEGER NOT NULL, by_kernel INTEGER NOT NULL, PRIMARY KEY(object, call)) STRICT,
  WITHOUT ROWID;
CREATE TABLE findings(rank INTEGER PRIMARY KEY, pattern TEXT NOT NULL, object INTEGER NOT NULL,
  host INTEGER, certainty TEXT NOT NULL, distance INTEGER, wasted_bytes INTEGER NOT NULL,
  peak_saving_bytes INTEGER NOT NULL, joint_saving_bytes INTEGER NOT NULL,
  idle_at_peak_bytes INTEGER NOT NULL, superseded_by INTEGER, from_call INTEGER, to_call INTEGER,
  advice TEXT NOT NULL, reason TEXT NOT NULL) STRICT;
CREATE TABLE peaks(rank INTEGER PRIMARY KEY, device INTEGER NOT NULL, bytes INTEGER NOT NULL,
  call INTEGER NOT NULL, until_call INTEGER NOT NULL) STRICT;
-- state: used idle unused leaked unknown
CREATE TABLE peak_objects(peak INTEGER NOT NULL REFERENCES peaks(rank), object INTEGER NOT NULL,
  state TEXT NOT NULL, PRIMARY KEY(peak, object)) STRICT, WITHOUT ROWID;
-- live bytes of a device from this call to the next row's
CREATE TABLE live(device INTEGER NOT NULL, call INTEGER NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY(device, call)) STRICT, WITHOUT ROWID;
CREATE TABLE coverage(kind TEXT NOT NULL, text TEXT NOT NULL, count INTEGER NOT NULL) STRICT;
)sql";

// Made once the rows are in.
inline constexpr const char* kSqliteIndices = R"sql(
CREATE INDEX objects_by_size ON objects(size_bytes);
CREATE INDEX objects_by_call_path ON objects(call_path);
CREATE INDEX uses_by_call ON uses(call);
CREATE INDEX findings_by_object ON findings(object);
CREATE INDEX findings_by_pattern ON findings(pattern);
CREATE INDEX apis_by_kind ON apis(kind);
)sql";

}  // namespace drgpum
