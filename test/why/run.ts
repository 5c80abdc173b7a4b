/**
 * `make why`: makes timeouts happen on a system of its own and tells each from the exported spans alone. Exit code 1
 * when a scenario is told wrongly. `ONLY=name,name` runs some of them; `REPORT=1` writes docs/why.md, `PICTURE=1`
 * docs/why.png.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../deploy/local/settings.ts';
import { explain } from './explain.ts';
import type { Explanation } from './explain.ts';
import { pictured, takePicture } from './picture.ts';
import { printed, report } from './report.ts';
import { startWhySystem } from './system.ts';

const only = (process.env['ONLY'] ?? '').split(',').filter(Boolean);
process.env['VISION_QUIET'] = '1';
const started = Date.now();
const write = (text: string) => process.stdout.write(`${text}\n`);
const say = (text: string) => write(`why        ${Math.round((Date.now() - started) / 1000)} s: ${text}`);

const system = await startWhySystem();
Object.assign(process.env, {
  BASE_URL: system.baseUrl,
  ADMIN_URL: system.adminUrl,
  ADMIN_TOKEN: system.adminToken,
});
const told: Explanation[] = [];
let failed = true;
try {
  say('the system runs');
  // These read the addresses above when they are loaded.
  const { Caller } = await import('../support/system.ts');
  const { scenarios } = await import('./scenarios/list.ts');
  for (const scenario of scenarios.filter(({ name }) => only.length === 0 || only.includes(name))) {
    const asked = await scenario.run(system, await Caller.create());
    const explanation = explain(scenario, asked, await system.collector.traceOf(asked));
    write(printed(explanation));
    told.push(explanation);
    if (process.env['PICTURE'] && scenario.name === pictured.scenario) {
      await takePicture(system, asked);
      say('docs/why.png is taken');
    }
  }
  failed = told.some(({ faults }) => faults.length > 0);
  if (process.env['REPORT'] && only.length === 0 && !failed) {
    writeFileSync(join(root, 'docs/why.md'), await report(told));
    say('docs/why.md is written');
  }
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  await system.close();
}
const right = told.filter(({ faults }) => faults.length === 0).length;
say(`${right} of ${told.length} told rightly`);
process.exit(failed ? 1 : 0);
