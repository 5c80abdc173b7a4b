/**
 * `make simulate`: plays schedules of each world for MINUTES in all, from SEED on; with a SEED and without MINUTES that
 * schedule alone. ONLY=name,name chooses worlds. Exit code 1 when a schedule breaks a promise to callers.
 */
import { explore } from './explore.ts';
import { replaceTime } from './virtual-time.ts';
import { worlds } from './worlds/list.ts';

const DEFAULT_MINUTES = 3;
const { SEED = '', MINUTES = '', ONLY = '' } = process.env;
const seed = SEED === '' ? Date.now() % 1_000_000_000 : Number(SEED);
const chosen = worlds.filter(({ name }) => ONLY === '' || ONLY.split(',').includes(name));
if (chosen.length === 0) throw new Error(`Worlds: ${worlds.map(({ name }) => name).join(', ')}`);
const schedules = SEED !== '' && MINUTES === '' ? 1 : Infinity;
const forMs = (Number(MINUTES || DEFAULT_MINUTES) * 60_000) / chosen.length;
const time = replaceTime();
let failed = 0;
for (const world of chosen) {
  const { played, ms, broken } = await explore(world, time, { seed, forMs, schedules });
  const outcome = broken ? `BROKEN at seed ${broken.seed}` : 'ok';
  const rate = Math.round((played / ms) * 60_000);
  console.log(`${world.name.padEnd(10)} ${outcome}: ${played} schedules from seed ${seed}, ${rate} a minute`);
  if (broken) console.log(`${broken.report}\nPlay it again: make simulate ONLY=${world.name} SEED=${broken.seed}`);
  failed += broken ? 1 : 0;
}
console.log(`${chosen.length - failed} passed, ${failed} failed`);
// Pools keep the process alive.
process.exit(failed === 0 ? 0 : 1);
