/**
 * `make beside`: the services of the last release and those of today in one system, on the same stores. An upgrade goes
 * in stages, each half of the services being the older one once, and once one of each version behind every address. The
 * caller of it may notice nothing.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { until } from '@vision/shared/testing/until';
import { stopAll } from '../../deploy/local/down.ts';
import { readSettings, root } from '../../deploy/local/settings.ts';
import type { Settings } from '../../deploy/local/settings.ts';
import { createFindings } from './findings.ts';
import { checkOutBaseRelease } from './last-release.ts';
import { startSources } from './sources.ts';
import { publishesSegments, stages, stagesNamed, versions } from './stages.ts';
import type { Stage } from './stages.ts';
import type { Story } from './story.ts';
import { startWorld } from './world.ts';
import type { World } from './world.ts';

const SHOWN = 40;
const wanted = stagesNamed((process.env['ONLY'] ?? '').split(',').filter(Boolean));
const started = Date.now();
const say = (text: string) => console.log(`beside     ${Math.round((Date.now() - started) / 1000)} s: ${text}`);

const findings = createFindings();
process.exitCode = 1;
try {
  const base = readSettings();
  const { version, commit, tree } = checkOutBaseRelease(root, base.localDir);
  say(`last is ${version} (${commit.slice(0, 12)}), today is ${today()}`);
  process.env['VISION_QUIET'] = '1';
  process.env['OLDER_DOCUMENTS'] = join(tree, 'docs/openapi');
  let leaving: Promise<void> | undefined;
  // `make` and whoever ended it may both send one.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void (leaving ??= leave(base)));
  const world = await startWorld(base, tree);
  try {
    await goThrough(world);
  } finally {
    await world.close();
  }
} catch (error) {
  findings.breach(error instanceof Error ? error.message : String(error));
}
process.exit(report() ? 0 : 1);

/** Prints what was found; true when all is well. */
function report(): boolean {
  const { requests, failed, breaches } = findings;
  const lines = [...failed].map(([what, { times, first }]) => `failed ${times} times: ${what}: ${first}`);
  const count = [...failed.values()].reduce((sum, { times }) => sum + times, 0);
  const faults = [...lines, ...breaches];
  for (const sentence of faults.slice(0, SHOWN)) console.log(`  ${sentence}`);
  if (faults.length > SHOWN) console.log(`  and ${faults.length - SHOWN} more`);
  say(`${requests} requests, ${count} failed; ${breaches.length} breaches`);
  return requests > 0 && faults.length === 0;
}

async function goThrough(world: World): Promise<void> {
  Object.assign(process.env, { BASE_URL: world.baseUrl, ADMIN_URL: world.adminUrl, ADMIN_TOKEN: world.adminToken });
  // These read the addresses above when they are loaded.
  const { Story } = await import('./story.ts');
  const { checkAftermath, checkPublishing, checkSegments } = await import('./aftermath.ts');
  const sources = await startSources(join(world.settings.localDir, 'sources'));
  try {
    await world.migrate('last');
    let isUpToDate = false;
    let story: Story | undefined;
    for (const stage of wanted) {
      if (!isUpToDate && stage !== stages[0]) {
        await world.migrate('today');
        isUpToDate = true;
        say("today's migrations are applied beneath what runs");
      }
      await world.enter(stage);
      const entered = Date.now();
      story ??= await Story.begin(findings, sources);
      await live(world, story, stage);
      if (publishesSegments(stage)) await checkPublishing(findings, world, stage.name, entered);
    }
    say('ending what still runs');
    await story?.end();
    if (story && wanted.at(-1) === stages.at(-1)) {
      say('waiting until all frames are in the object store');
      await checkSegments(findings, world);
      await story.readAgain('in the object store');
    }
    // A service of the last release does not know all questions of today.
    if (wanted.at(-1) !== stages.at(-1)) return;
    say('looking at what is left');
    await checkAftermath(findings, world);
  } finally {
    sources.close();
  }
}

async function live(world: World, story: Story, stage: Stage): Promise<void> {
  say(`${stage.name}: ${told(stage)}`);
  const members = world.membersOf(stage);
  const before = await Promise.all(members.map((member) => member.answered()));
  await story.liveThrough(stage.name);
  // A process that nobody asked has shown nothing.
  let silent: string[] = [];
  const allAnswered = async () => {
    const now = await Promise.all(members.map((member) => member.answered()));
    silent = members.flatMap(({ name }, index) => (now[index] === before[index] ? [name] : []));
    if (silent.length > 0) await story.askEverybody(stage.name);
    return silent.length === 0;
  };
  await until(allAnswered, { timeoutMs: 60_000, intervalMs: 500 }).catch(() => {
    findings.breach(`${stage.name}: nobody asked ${silent.join(', ')}`);
  });
  const faults = findings.failed.size + findings.breaches.length;
  if (faults > 0) say(`${faults} kinds of faults up to here`);
}

function told({ runs }: Stage): string {
  const list = (names: string[]) => (names.length === Object.keys(runs).length ? 'all seven' : names.join(', '));
  const parts = versions.flatMap((version) => {
    const those = Object.entries(runs).flatMap(([service, own]) => (own.includes(version) ? [service] : []));
    return those.length > 0 ? [`${version}: ${list(those)}`] : [];
  });
  return parts.join('; ');
}

function today(): string {
  const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const changed = execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], { cwd: root }).length > 0;
  return changed ? `${commit} with changes` : commit;
}

/** What a run starts runs apart from this process, so an interrupted one has to end it. */
async function leave(base: Settings): Promise<void> {
  say('interrupted; stopping what was started');
  report();
  await stopAll({ ...base, localDir: join(base.localDir, 'beside/test') });
  process.exit(130);
}
