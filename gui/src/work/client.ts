// SPDX-License-Identifier: Apache-2.0
// The page's side of its worker: questions as promises. Cancelling ends the worker; the next question starts another.
import Worker from './worker?worker&inline';
import type { Answer, Ask } from './messages';

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  progress: ((done: number, all: number) => void) | undefined;
}
const waiting = new Map<number, Waiting>();
let worker: globalThis.Worker | null = null;
let last = 0;

function start(): globalThis.Worker {
  const started = new Worker();
  started.onmessage = ({ data }: MessageEvent<Answer>): void => {
    const who = waiting.get(data.id);
    if (!who) return;
    if ('progress' in data) return who.progress?.(...data.progress);
    waiting.delete(data.id);
    if ('failed' in data) who.reject(new Error(data.failed));
    else who.resolve(data.value);
  };
  started.onerror = (event): void => failAll(event.message || 'The page ran out of memory.');
  return started;
}
function failAll(why: string): void {
  for (const who of waiting.values()) who.reject(new Error(why));
  waiting.clear();
}

type Question = Ask extends infer A ? (A extends Ask ? Omit<A, 'id'> : never) : never;
export function ask<T>(question: Question, progress?: (done: number, all: number) => void): Promise<T> {
  worker ??= start();
  const id = ++last;
  return new Promise<T>((resolve, reject) => {
    waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, progress });
    worker!.postMessage({ ...question, id });
  });
}
export function cancelAll(): void {
  worker?.terminate();
  worker = null;
  failAll('Cancelled.');
}
