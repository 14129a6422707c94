// SPDX-License-Identifier: Apache-2.0
// A canvas that fits its place, in device pixels, and is painted once a frame when what it shows changes.
import { effect } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { plainColour } from './ink';
import { SvgContext } from './svg';
import { baseline, hovered, programs, route, theme } from '../store';

export interface Frame {
  g: CanvasRenderingContext2D;
  width: number; // CSS pixels
  height: number;
}
interface Props {
  label: string;
  height?: number;
  class?: string;
  paint: (frame: Frame) => void;
  onMove?: (x: number, y: number, event: PointerEvent) => void;
  onLeave?: () => void;
  onPress?: (x: number, y: number, event: MouseEvent) => void;
  onDouble?: (x: number, y: number) => void;
  onWheel?: (x: number, y: number, event: WheelEvent) => void;
  onRange?: (x0: number, x1: number) => void;
  onPan?: (dx: number) => void;
}

export const paintTimes: number[] = []; // the last ones, in ms; tests read them

const paintings = new WeakMap<HTMLCanvasElement, () => Props>();

// The same drawing as a text; null when the element is none of these.
export function svgOf(canvas: HTMLCanvasElement): string | null {
  const props = paintings.get(canvas)?.();
  if (!props) return null;
  const { width, height } = canvas.getBoundingClientRect();
  const g = new SvgContext(width, height, plainColour);
  props.paint({ g: g as unknown as CanvasRenderingContext2D, width, height });
  return g.text();
}

export function Canvas(props: Props) {
  const element = useRef<HTMLCanvasElement>(null);
  const now = useRef(props);
  now.current = props;
  const again = useRef<() => void>(() => undefined);
  // At once, before the frame that is due anyway: later would paint the same again.
  useLayoutEffect(() => again.current());
  useEffect(() => {
    const canvas = element.current!;
    paintings.set(canvas, () => now.current);
    const g = canvas.getContext('2d', { alpha: false })!;
    let due = 0;
    const paint = (): void => {
      due = 0;
      const box = canvas.getBoundingClientRect();
      const ratio = window.devicePixelRatio || 1;
      const width = Math.max(1, Math.round(box.width * ratio));
      const height = Math.max(1, Math.round(box.height * ratio));
      if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
      }
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      const start = performance.now();
      now.current.paint({ g, width: box.width, height: box.height });
      paintTimes.push(performance.now() - start);
      if (paintTimes.length > 500) paintTimes.shift();
    };
    const ask = (): void => {
      if (due === 0) due = requestAnimationFrame(paint);
    };
    again.current = ask;
    const stop = effect(() => {
      // What any painting may depend on.
      void [route.value, hovered.value, theme.value, programs.value, baseline.value];
      ask();
    });
    const resized = new ResizeObserver(ask);
    resized.observe(canvas);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', ask);
    const wheel = (event: WheelEvent): void => {
      if (!now.current.onWheel) return;
      const box = canvas.getBoundingClientRect();
      now.current.onWheel(event.clientX - box.left, event.clientY - box.top, event);
    };
    canvas.addEventListener('wheel', wheel, { passive: false });
    return () => {
      stop();
      resized.disconnect();
      dark.removeEventListener('change', ask);
      canvas.removeEventListener('wheel', wheel);
      cancelAnimationFrame(due);
    };
  }, []);

  const press = useRef<{ x: number; pan: boolean; last: number } | null>(null);
  const at = (event: MouseEvent): [number, number] => {
    const box = element.current!.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  return (
    <canvas
      ref={element}
      role="img"
      aria-label={props.label}
      class={props.class}
      style={props.height ? { height: `${props.height}px` } : undefined}
      onPointerDown={(e) => {
        const [x] = at(e);
        press.current = { x, pan: e.shiftKey || e.button === 1, last: x };
        element.current!.setPointerCapture(e.pointerId);
      }}
      onPointerMove={(e) => {
        const [x, y] = at(e);
        if (press.current?.pan) {
          props.onPan?.(x - press.current.last);
          press.current.last = x;
        }
        props.onMove?.(x, y, e);
      }}
      onPointerLeave={() => props.onLeave?.()}
      onPointerUp={(e) => {
        const [x, y] = at(e);
        const start = press.current;
        press.current = null;
        if (!start || start.pan) return;
        if (Math.abs(x - start.x) > 5 && props.onRange) props.onRange(Math.min(x, start.x), Math.max(x, start.x));
        else props.onPress?.(x, y, e);
      }}
      onDblClick={(e) => props.onDouble?.(...at(e))}
    />
  );
}
