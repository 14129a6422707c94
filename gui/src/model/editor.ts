// SPDX-License-Identifier: Apache-2.0
// Links from a file and line into a person's editor.
import { signal } from '@preact/signals';

export const kEditors: Record<string, string> = {
  'VS Code': 'vscode://file%f:%l',
  Cursor: 'cursor://file%f:%l',
  JetBrains: 'idea://open?file=%f&line=%l',
  Zed: 'zed://file%f:%l',
  Emacs: 'org-protocol://open-file?url=file://%f&line=%l',
};
const kKey = 'drgpum-editor';

function remembered(): string {
  try {
    const name = localStorage.getItem(kKey) ?? '';
    return Object.hasOwn(kEditors, name) ? name : 'VS Code';
  } catch {
    return 'VS Code'; // a file's page may not be allowed to remember
  }
}
export const editor = signal(remembered());
export function chooseEditor(name: string): void {
  if (!Object.hasOwn(kEditors, name)) return;
  editor.value = name;
  try {
    localStorage.setItem(kKey, name);
  } catch {
    // chosen for this visit
  }
}
// Null for paths that are not absolute.
export function editorLink(file: string, line: number): string | null {
  if (!file.startsWith('/')) return null;
  const path = encodeURI(file).replace(/[?#&]/g, encodeURIComponent);
  return kEditors[editor.value]!.replace('%f', () => path).replace('%l', () => String(line));
}
