/**
 * The part of `make compose-check` that runs inside the network namespace which stands for a machine: starts everything
 * as the compose file says, uses it, looks at what was promised, and stops it.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stopAll } from '../../local/down.ts';
import { readEnvFile } from '../../local/secrets.ts';
import { portOf, readSettings, root, say } from '../../local/settings.ts';
import { becomesTrue } from '../../local/wait.ts';
import { readComposeFile } from '../compose-file.ts';
import type { ComposeFile } from '../compose-file.ts';
import { Boxes } from './boxes.ts';
import { createTestNetwork } from './network.ts';
import { runProgram } from '../../local/program.ts';
import { startRelay } from './relay.ts';
import { writeStrictProfile } from './seccomp.ts';
import { kafkaPort, standInSettings, standIns, startStandIns } from './stand-ins.ts';
import { startNameServer } from './watch.ts';

const [prefix = '', localDir = ''] = process.argv.slice(2);
const variables = readEnvFile(join(localDir, 'env'));
const compose = readComposeFile(join(root, 'docker-compose.yml'), variables);
const settings = standInSettings({ ...readSettings({}), localDir, portBase: 20_000 }, compose);
/** Time for programs that report or update themselves in the background. */
const IDLE_MS = Number(process.env['IDLE_S'] || 30) * 1000;

const network = createTestNetwork(prefix, compose, Object.keys(standIns));
const seccompFile = writeStrictProfile(join(localDir, 'seccomp.json'));
const boxes = new Boxes({ prefix, compose, network, seccompFile });
const names = await startNameServer();
const failures: string[] = [];
const relays: { close: () => Promise<void> }[] = [];
let ending: Promise<void> | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void end().then(() => process.exit(130)));

try {
  await startStandIns(settings, compose);
  await relayStandIns();
  await startInOrder(compose);
  await relayPublished();
  await checkSandbox();
  await useIt();
  await lookAtTheConsole();
  say('check', `waiting ${IDLE_MS / 1000} s for connections that the environment does not name`);
  await pause(IDLE_MS);
  await lookAtConnections();
  await stopEverything();
} catch (error) {
  failures.push(error instanceof Error ? error.message : String(error));
} finally {
  await end();
}
if (failures.length > 0) console.error(`\nCompose does not work:\n${failures.join('\n')}`);
else say('check', 'compose starts, works, keeps its promises and stops');
process.exitCode = failures.length > 0 ? 1 : 0;

async function relayStandIns(): Promise<void> {
  for (const [name, { program, port }] of Object.entries(standIns)) {
    const to = program === 'kafka' ? kafkaPort(settings) : portOf(settings, program);
    relays.push(await startRelay({ host: network.addressOf(name), port }, { host: '127.0.0.1', port: to }));
  }
}

async function relayPublished(): Promise<void> {
  for (const [name, { ports, profiles }] of Object.entries(compose.services)) {
    if (profiles.length > 0) continue;
    for (const { host, port, containerPort } of ports)
      relays.push(await startRelay({ host, port }, { host: network.addressOf(name), port: containerPort }));
  }
}

/** Each container once those that it depends on are healthy or done. */
async function startInOrder({ services }: ComposeFile): Promise<void> {
  const ready = new Set(Object.keys(standIns));
  const waiting = new Set(
    Object.keys(services).filter((name) => !ready.has(name) && services[name]?.profiles.length === 0),
  );
  while (waiting.size > 0) {
    const isNext = (name: string) => Object.keys(services[name]?.depends_on ?? {}).every((other) => ready.has(other));
    const next = [...waiting].filter(isNext);
    if (next.length === 0) throw new Error(`These wait for each other: ${[...waiting].join(', ')}`);
    for (const name of next) await boxes.start(name);
    for (const name of next) {
      if (boxes.isService(name)) await boxes.waitUntilHealthy(name);
      waiting.delete(name);
      ready.add(name);
    }
  }
}

async function checkSandbox(): Promise<void> {
  const gauges = (await boxes.metrics('inference')).match(/^vision_inference_sandbox\{.*$/gm) ?? [];
  const on = gauges.some((line) => /wall="(landlock|bubblewrap)"/.test(line) && line.endsWith(' 1'));
  if (!on) failures.push(`inference decodes without a sandbox: ${gauges.join(' ') || 'no gauge'}`);
  else say('inference', `sandbox: ${gauges.join(' ')}`);
}

async function useIt(): Promise<void> {
  // As an operator would: the first key by the command that the README names.
  const key = await boxes.run('visionctl', ['keys', 'create', 'first']);
  if (!/vision_|key/.test(key)) throw new Error(`visionctl made no key: ${key}`);
  say('visionctl', 'made an API key');
  const demo = [process.execPath, ...process.execArgv, 'examples/demo.ts'];
  const { status, stdout, stderr } = await runProgram(demo, {
    cwd: root,
    timeoutMs: 300_000,
    env: {
      ...process.env,
      BASE_URL: 'http://127.0.0.1:8080',
      ADMIN_URL: 'http://127.0.0.1:8081',
      ADMIN_TOKEN: variables['ADMIN_TOKEN'],
      DEMO_LIVE: 'no',
    },
  });
  process.stdout.write(stdout);
  if (status === 0) return;
  const logs = await Promise.all(boxes.services().map(async (name) => `${name}:\n${await boxes.logs(name)}`));
  throw new Error(`The demo failed:\n${stderr}\n${logs.join('\n')}`);
}

/** The image carries the built files of the console. */
async function lookAtTheConsole(): Promise<void> {
  const address = 'http://127.0.0.1:8080/console/';
  const page = await fetch(address);
  const [, script] = /<script[^>]* src="([^"]+\.js)"/.exec(await page.text()) ?? [];
  const answer = script === undefined ? undefined : await fetch(new URL(script, address));
  const size = (await answer?.text())?.length ?? 0;
  if (page.ok && answer?.ok === true && size > 0) say('gateway', `serves the console, ${size} bytes of script`);
  else failures.push(`the console answers ${page.status}, its script ${script ?? '(none)'} ${answer?.status ?? ''}`);
}

async function lookAtConnections(): Promise<void> {
  const found = [...boxes.unconfigured(), ...names.asked()];
  if (found.length > 0) failures.push(`Connections that are not configured:\n${found.join('\n')}`);
  else say('check', 'no container tried to reach anything that its environment does not name');
  // The watch itself: what does reach out is noticed.
  await boxes.reachOut('quota', '198.51.100.7', 'telemetry.example');
  const seen = await becomesTrue(
    async () =>
      /198\.51\.100\.7 6 443|198\.51\.100\.7 tcp 443/.test(boxes.unconfigured().join('\n')) &&
      /telemetry\.example/.test(names.asked().join()),
    { timeoutMs: 10_000, everyMs: 500 },
  );
  if (!seen) failures.push(`The watch saw nothing of a container that reached out: ${boxes.unconfigured().join(', ')}`);
}

async function stopEverything(): Promise<void> {
  for (const name of boxes.services()) {
    const { seconds, exitCode, graceS } = await boxes.stop(name);
    say(name, `stopped in ${seconds} s with exit code ${exitCode}`);
    if (exitCode !== 0 || seconds >= graceS) failures.push(`${name} stopped in ${seconds} s, exit code ${exitCode}`);
  }
}

/** Ends everything, once: an interrupt may come while the end is under way, and ends what the work above waits for. */
function end(): Promise<void> {
  ending ??= endAll();
  return ending;
}

async function endAll(): Promise<void> {
  await boxes.remove();
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
  names.close();
  await stopAll(settings);
  network.remove();
}
