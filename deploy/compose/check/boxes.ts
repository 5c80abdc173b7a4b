import { say } from '../../local/settings.ts';
import { becomesTrue } from '../../local/wait.ts';
import type { ComposeFile, Container } from '../compose-file.ts';
import { brokenPromises, healthTest, inside, runFlags } from './containers.ts';
import type { TestNetwork } from './network.ts';
import { outputOf, runProgram } from '../../local/program.ts';
import { connectionsSeen, watchConnections } from './watch.ts';

/** A start on a busy machine takes a while. */
const HEALTHY_MS = 400_000;

/** The containers of the compose file that are of our images, under podman. */
export class Boxes {
  readonly #prefix: string;
  readonly #compose: ComposeFile;
  readonly #network: TestNetwork;
  readonly #seccompFile: string;
  readonly #namespaces = new Map<string, string>();
  readonly #services = new Set<string>();

  constructor(options: { prefix: string; compose: ComposeFile; network: TestNetwork; seccompFile: string }) {
    this.#prefix = options.prefix;
    this.#compose = options.compose;
    this.#network = options.network;
    this.#seccompFile = options.seccompFile;
  }

  /** Starts a service, or runs a job to its end. */
  async start(name: string): Promise<void> {
    const { command = [] } = this.#container(name);
    const from = Date.now();
    if (this.isService(name)) {
      this.#services.add(name);
      await this.#podmanRun(name, ['--detach', '--restart=no'], command);
      return;
    }
    await this.#podmanRun(name, ['--rm'], command);
    say(name, `done in ${seconds(from)} s`);
  }

  /** Jobs are not started again when they end. */
  isService(name: string): boolean {
    return this.#container(name).restart !== undefined;
  }

  /** Runs one command in a container that is gone afterwards; returns its output. */
  async run(name: string, command: string[]): Promise<string> {
    return this.#podmanRun(name, ['--rm'], command);
  }

  /** @throws Error with the container's last lines when it does not become healthy, or is not what the file says. */
  async waitUntilHealthy(name: string): Promise<void> {
    const box = this.#box(name);
    const container = this.#container(name);
    const test = healthTest(container.image);
    const from = Date.now();
    let state = '';
    const healthy = await becomesTrue(
      async () => {
        state = await stateOf(box);
        return (await inside(box, test)).status === 0;
      },
      { timeoutMs: HEALTHY_MS, everyMs: 500, stopped: () => state === 'exited' },
    );
    if (!healthy) throw new Error(`${name} is ${state}, and not healthy:\n${await this.logs(name)}`);
    const broken = await brokenPromises(box, container);
    if (broken.length > 0) throw new Error(`Not true of ${name}: ${broken.join(', ')}`);
    say(name, `healthy after ${seconds(from)} s`);
  }

  /** All services that were started. */
  services(): string[] {
    return [...this.#services];
  }

  /** What a service says on its metrics page. */
  async metrics(name: string): Promise<string> {
    const ask = "fetch('http://127.0.0.1:9090/metrics').then((r) => r.text()).then(console.log)";
    return (await inside(this.#box(name), ['node', '-e', ask])).stdout;
  }

  async logs(name: string): Promise<string> {
    const { stdout, stderr } = await runProgram(['podman', 'logs', this.#box(name)]);
    return `${stdout}${stderr}`.trim().split('\n').slice(-15).join('\n');
  }

  /** Lets a service connect to an address, and ask for a name, that are not among its own. */
  async reachOut(name: string, address: string, host: string): Promise<void> {
    const script = `require('node:net').connect(443, '${address}').on('error', () => {});
      fetch('http://${host}/').catch(() => {});
      setTimeout(() => process.exit(), 1000)`;
    await inside(this.#box(name), ['node', '-e', script]);
  }

  /** What containers tried to reach beyond what their environment names. */
  unconfigured(): string[] {
    return [...this.#namespaces].flatMap(([name, namespace]) =>
      connectionsSeen(namespace).map((seen) => `${name}: ${seen}`),
    );
  }

  /** Stops a service as compose would: after the grace it is killed. */
  async stop(name: string): Promise<{ seconds: number; exitCode: number; graceS: number }> {
    const graceS = (this.#container(name).stop_grace_period ?? 10_000) / 1000;
    const from = Date.now();
    await outputOf(['podman', 'stop', `--time=${graceS}`, this.#box(name)]);
    const exitCode = Number(await outputOf(['podman', 'inspect', '--format', '{{.State.ExitCode}}', this.#box(name)]));
    return { seconds: seconds(from), exitCode, graceS };
  }

  /** Removes what was started, with its volumes. */
  async remove(): Promise<void> {
    const names = [...this.#namespaces.keys()].map((name) => this.#box(name));
    if (names.length > 0) await runProgram(['podman', 'rm', '--force', '--time=5', '--ignore', ...names]);
    const volumes = Object.keys(this.#compose.volumes).map((name) => `${this.#prefix}-${name}`);
    await runProgram(['podman', 'volume', 'rm', '--force', ...volumes]);
  }

  async #podmanRun(name: string, more: string[], command: string[]): Promise<string> {
    const flags = [`--name=${this.#box(name)}`, ...more, ...this.#networkFlags(name)];
    const container = this.#container(name);
    flags.push(...runFlags(container, this.#prefix, this.#seccompFile));
    return outputOf(['podman', 'run', ...flags, container.image, ...command]);
  }

  #networkFlags(name: string): string[] {
    const namespace = this.#namespaces.get(name) ?? this.#network.attach(name);
    if (!this.#namespaces.has(name)) watchConnections(namespace, this.#configured(name));
    this.#namespaces.set(name, namespace);
    const others = Object.keys(this.#compose.services).flatMap((other) => {
      const address = this.#network.addressFor(name, other);
      return address === undefined ? [] : [`--add-host=${other}:${address}`];
    });
    return [`--network=ns:${namespace}`, `--dns=${this.#network.machineFor(name)}`, '--dns-search=.', ...others];
  }

  /** The addresses behind the names in the environment of a container. */
  #configured(name: string): string[] {
    const values = Object.values(this.#container(name).environment);
    const found = values.flatMap((value) => [...value.matchAll(/(?:^|[/@,])([a-z0-9-]+):(\d+)/g)]);
    const pairs = found.flatMap(([, host = '', port]) => {
      const address = this.#network.addressFor(name, host);
      return address === undefined ? [] : [`${address}:${port}`];
    });
    return [...new Set(pairs)];
  }

  #container(name: string): Container {
    const container = this.#compose.services[name];
    if (container === undefined) throw new Error(`The compose file has no ${name}`);
    return container;
  }

  #box(name: string): string {
    return `${this.#prefix}-${name}`;
  }
}

async function stateOf(box: string): Promise<string> {
  return (await runProgram(['podman', 'inspect', '--format', '{{.State.Status}}', box])).stdout.trim();
}

const seconds = (from: number) => Math.round((Date.now() - from) / 100) / 10;
