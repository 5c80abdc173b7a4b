/**
 * Plays the schedules SEEDS=from,to of the world ONLY one after the other in this process, downwards when `from` is
 * larger. Prints a line for each: seed, outcome, steps. A seed must give the same line whatever ran before it.
 */
import { openPlayer } from './explore.ts';
import { replaceTime } from './virtual-time.ts';
import { worlds } from './worlds/list.ts';

const { SEEDS = '', ONLY = '' } = process.env;
const [from = NaN, to = NaN] = SEEDS.split(',').map(Number);
const world = worlds.find(({ name }) => name === ONLY);
if (!world) throw new Error(`Worlds: ${worlds.map(({ name }) => name).join(', ')}`);
const player = await openPlayer(world, replaceTime());
for (let seed = from; from <= to ? seed <= to : seed >= to; seed += from <= to ? 1 : -1) {
  const { steps, report } = await player.play(seed);
  console.log(JSON.stringify({ seed, outcome: report === undefined ? 'ok' : 'broken', steps }));
}
await player.close();
// Pools keep the process alive.
process.exit(0);
