import type { World } from '../world.ts';
import { leases } from './leases.ts';
import { pages } from './pages.ts';
import { places } from './places.ts';
import { results } from './results.ts';

/** All of them; `make simulate` gives each the same time. */
export const worlds: readonly World[] = [pages, results, places, leases];
