// SPDX-License-Identifier: Apache-2.0
// A drawing as SVG: records what a painting asks of a canvas' context, as far as the paintings here do.

const kEscaped: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replace(/[&<>"]/g, (c) => kEscaped[c]!).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '');
const n = (v: number): string => String(Math.round(v * 100) / 100);

interface Style {
  fillStyle: string | CanvasPattern;
  strokeStyle: string;
  lineWidth: number;
  font: string;
  textAlign: string;
  textBaseline: string;
  globalAlpha: number;
}

export class SvgContext {
  fillStyle: string | CanvasPattern = '#000';
  strokeStyle = '#000';
  lineWidth = 1;
  font = '11px sans-serif';
  textAlign = 'left';
  textBaseline = 'alphabetic';
  globalAlpha = 1;
  private path = '';
  private dash: number[] = [];
  private clips = 0;
  private readonly stack: { style: Style; groups: number; dash: number[] }[] = [];
  private groups = 0;
  private readonly out: string[] = [];
  private readonly defs: string[] = [];

  constructor(readonly width: number, readonly height: number, readonly plainColour: (pattern: CanvasPattern) => string) {}

  private paint(): string {
    return typeof this.fillStyle === 'string' ? this.fillStyle : this.plainColour(this.fillStyle);
  }
  private stroked(): string {
    return `fill="none" stroke="${escape(this.strokeStyle)}" stroke-width="${n(this.lineWidth)}"${this.dash.length > 0 ? ` stroke-dasharray="${this.dash.join(' ')}"` : ''}`;
  }
  private style(): Style {
    const { fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha } = this;
    return { fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha };
  }
  getTransform(): { a: number } {
    return { a: 1 };
  }
  setTransform(): void {}
  setLineDash(dash: number[]): void {
    this.dash = dash;
  }
  fillRect(x: number, y: number, w: number, h: number): void {
    if (w > 0 && h > 0) this.out.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="${escape(this.paint())}"/>`);
  }
  strokeRect(x: number, y: number, w: number, h: number): void {
    this.out.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, w))}" height="${n(Math.max(0, h))}" ${this.stroked()}/>`);
  }
  fillText(text: string, x: number, y: number): void {
    const anchor = { left: 'start', right: 'end', center: 'middle' }[this.textAlign] ?? 'start';
    const line = { middle: 'central', bottom: 'text-after-edge', top: 'hanging' }[this.textBaseline] ?? 'auto';
    this.out.push(`<text x="${n(x)}" y="${n(y)}" fill="${escape(this.paint())}" style="font:${escape(this.font)}" text-anchor="${anchor}" dominant-baseline="${line}">${escape(text)}</text>`);
  }
  beginPath(): void {
    this.path = '';
  }
  moveTo(x: number, y: number): void {
    this.path += `M${n(x)} ${n(y)}`;
  }
  lineTo(x: number, y: number): void {
    this.path += `${this.path === '' ? 'M' : 'L'}${n(x)} ${n(y)}`;
  }
  bezierCurveTo(a: number, b: number, c: number, d: number, x: number, y: number): void {
    this.path += `C${n(a)} ${n(b)} ${n(c)} ${n(d)} ${n(x)} ${n(y)}`;
  }
  arc(x: number, y: number, r: number): void {
    this.path += `M${n(x - r)} ${n(y)}a${n(r)} ${n(r)} 0 1 0 ${n(2 * r)} 0a${n(r)} ${n(r)} 0 1 0 ${n(-2 * r)} 0`;
  }
  rect(x: number, y: number, w: number, h: number): void {
    this.path += `M${n(x)} ${n(y)}h${n(w)}v${n(h)}h${n(-w)}z`;
  }
  fill(): void {
    this.out.push(`<path d="${this.path}" fill="${escape(this.paint())}"/>`);
  }
  stroke(): void {
    this.out.push(`<path d="${this.path}" ${this.stroked()}/>`);
  }
  clip(): void {
    this.defs.push(`<clipPath id="c${this.clips}"><path d="${this.path}"/></clipPath>`);
    this.out.push(`<g clip-path="url(#c${this.clips++})">`);
    this.groups++;
  }
  save(): void {
    this.stack.push({ style: this.style(), groups: this.groups, dash: this.dash });
  }
  restore(): void {
    const saved = this.stack.pop();
    if (!saved) return;
    for (; this.groups > saved.groups; this.groups--) this.out.push('</g>');
    Object.assign(this, saved.style);
    this.dash = saved.dash;
  }
  createImageData(width: number, height: number): ImageData {
    return new ImageData(width, height);
  }
  putImageData(image: ImageData, x: number, y: number): void {
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext('2d')!.putImageData(image, 0, 0);
    this.out.push(`<image x="${n(x)}" y="${n(y)}" width="${image.width}" height="${image.height}" href="${canvas.toDataURL()}"/>`);
  }
  text(): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${n(this.width)}" height="${n(this.height)}" viewBox="0 0 ${n(this.width)} ${n(this.height)}"><defs>${this.defs.join('')}</defs>${this.out.join('')}${'</g>'.repeat(this.groups)}</svg>\n`;
  }
}
