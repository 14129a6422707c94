// SPDX-License-Identifier: Apache-2.0
// The licences of what is bundled, as the module `virtual:notices`.
import fs from 'node:fs';
import path from 'node:path';

const kBundled = ['preact', '@preact/signals', '@preact/signals-core'];

export function notices() {
  return {
    name: 'notices',
    resolveId: (id) => (id === 'virtual:notices' ? '\0notices' : undefined),
    load(id) {
      if (id !== '\0notices') return undefined;
      const all = kBundled.map((name) => {
        const folder = path.resolve('node_modules', name);
        const about = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
        return { name, version: about.version, licence: about.license, text: fs.readFileSync(path.join(folder, 'LICENSE'), 'utf8').trim() };
      });
      return `export default ${JSON.stringify(all)}`;
    },
  };
}
