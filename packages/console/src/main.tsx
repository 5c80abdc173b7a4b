import { render } from 'preact';
import { App } from './app.tsx';
import { resumeSession } from './state/session.ts';

const root = document.getElementById('app');
if (root) {
  void resumeSession();
  render(<App />, root);
}
