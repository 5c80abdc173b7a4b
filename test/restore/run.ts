/**
 * `make rehearse-restore`: restores each database alone, to an older copy and to an empty one, while everything else
 * goes on, and all at once to one instant, as docs/restore.md says. Exit code 1 when an object that the bucket held is
 * gone, or the system does not serve. `ONLY=tasks,results` restores the databases of some services, `ONLY=all` all at
 * once.
 */
import { giveIdleConnectionsUp } from '@vision/shared/testing/idle-fetch';
import { serviceNames } from '../../deploy/local/service-environment.ts';
import { startRestoreSystem } from './system.ts';

const only = (process.env['ONLY'] ?? '').split(',').filter(Boolean);
process.env['VISION_QUIET'] = '1';
giveIdleConnectionsUp();
const started = Date.now();
const say = (text: string) =>
  void process.stdout.write(`restore    ${Math.round((Date.now() - started) / 1000)} s: ${text}\n`);

const system = await startRestoreSystem();
Object.assign(process.env, { BASE_URL: system.baseUrl, ADMIN_URL: system.adminUrl, ADMIN_TOKEN: system.adminToken });
const faults: string[] = [];
let drills = 0;
try {
  say('the system runs');
  // This reads the addresses above when it is loaded.
  const { rehearse } = await import('./rehearsal.ts');
  for await (const { says, found } of rehearse(system, {
    services: serviceNames.filter((name) => only.length === 0 || only.includes(name)),
    allAtOnce: only.length === 0 || only.includes('all'),
    say,
  })) {
    drills += 1;
    faults.push(...found);
    say(`${found.length === 0 ? 'ok    ' : 'FAILED'} ${says}`);
    for (const fault of found) say(`       ${fault}`);
  }
} catch (error) {
  faults.push(String(error));
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  await system.close();
}
say(`${drills} restores, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
