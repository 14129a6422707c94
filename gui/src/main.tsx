// SPDX-License-Identifier: Apache-2.0
// Starts the application in #app.
import { render } from 'preact';

render(<main>drgpum</main>, document.getElementById('app')!);
