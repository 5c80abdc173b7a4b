import { signal } from '@preact/signals';
import { routeOf } from '../lib/route.ts';

/** The page that the address names. */
export const route = signal(routeOf(location.hash));

addEventListener('hashchange', () => {
  route.value = routeOf(location.hash);
});
