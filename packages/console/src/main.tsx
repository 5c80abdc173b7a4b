import { render } from 'preact';
import { App } from './app.tsx';
import { keepFocus } from './lib/keep-focus.ts';
import { resumeSession } from './state/session.ts';

const root = document.getElementById('app');
if (root) {
  keepFocus(document);
  void resumeSession();
  render(<App />, root);
}
