import { signal } from '@preact/signals';
import { codeIn, routeOf } from '../lib/route.ts';

/** The page that the address names. */
export const route = signal(routeOf(location.hash));

addEventListener('hashchange', () => {
  // A code in the address is for the sign-in.
  if (codeIn(location.hash) !== undefined) return;
  route.value = routeOf(location.hash);
});
