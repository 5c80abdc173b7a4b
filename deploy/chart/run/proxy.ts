import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { serviceNames } from '../../local/service-environment.ts';
import type { Settings } from '../../local/settings.ts';
import { becomesTrue } from '../../local/wait.ts';
import { portsOf } from './values.ts';
import type { Slot } from './values.ts';

/** What tells the proxy where requests go, apart from the ports of the pods. */
const commandPort = ({ portBase }: Settings) => portBase + 190;

/**
 * HAProxy in the place of the Services: two slots for each component, asked whether they are ready as patiently as the
 * readiness probes of the chart ask. As with a Service, a connection stays with its pod until one side ends it; only
 * callers from outside come by requests, as through an ingress. @throws Error when it ends, as where a port is taken.
 */
export async function startProxy(settings: Settings, dir: string): Promise<ChildProcess> {
  const file = join(dir, 'haproxy.cfg');
  writeFileSync(file, configuration(settings));
  const proxy = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: 'inherit' });
  const answers = async () => (await command(settings, 'show info')).includes(`Pid: ${String(proxy.pid)}\n`);
  const stopped = () => proxy.exitCode !== null;
  if (await becomesTrue(answers, { timeoutMs: 60_000, stopped })) return proxy;
  proxy.kill();
  throw new Error(`HAProxy does not run: "haproxy -db -f ${file}" says why. VISION_PORT_BASE chooses other ports.`);
}

/** Takes a slot out of its Services, as Kubernetes does with a pod that is deleted, or back in. */
export async function setEndpoint(settings: Settings, name: string, slot: Slot, state: 'ready' | 'drain') {
  for (const listener of name === 'gateway' ? [name, `${name}-admin`] : [name]) {
    const answer = (await command(settings, `set server ${listener}/slot${slot} state ${state}`)).trim();
    if (answer !== '') throw new Error(`The proxy said: ${answer}`);
  }
}

async function command(settings: Settings, line: string): Promise<string> {
  const socket = connect(commandPort(settings), '127.0.0.1');
  socket.end(`${line}\n`);
  return text(socket);
}

function configuration(settings: Settings): string {
  const listeners = serviceNames.flatMap((name) =>
    name === 'gateway'
      ? [...listener(settings, name, 'http'), ...listener(settings, name, 'admin')]
      : listener(settings, name, 'http'),
  );
  return `global
  maxconn 2000
  stats socket ipv4@127.0.0.1:${commandPort(settings)} level admin
defaults
  timeout connect 3s
  timeout client 150s
  timeout server 150s
  timeout check 3s
  default-server inter 500ms fall 2 rise 1
${listeners.join('\n')}
`;
}

function listener(settings: Settings, name: string, port: 'http' | 'admin'): string[] {
  const servers = ([1, 2] as const).map((slot) => {
    const pod = portsOf(settings, name, slot);
    return `  server slot${slot} 127.0.0.1:${pod[port]} check port ${pod.health}`;
  });
  return [
    `listen ${port === 'admin' ? `${name}-admin` : name}`,
    `  mode ${name === 'gateway' ? 'http' : 'tcp'}`,
    `  bind 127.0.0.1:${portsOf(settings, name, 0)[port]}`,
    '  option httpchk GET /health/ready',
    ...servers,
  ];
}
