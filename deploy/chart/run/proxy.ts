import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serviceNames } from '../../local/service-environment.ts';
import type { Settings } from '../../local/settings.ts';
import { portsOf } from './values.ts';

/** HAProxy in the place of the Services: two slots for each component, asked whether they are ready. */
export function startProxy(settings: Settings, dir: string): ChildProcess {
  const file = join(dir, 'haproxy.cfg');
  writeFileSync(file, configuration(settings));
  return spawn('haproxy', ['-db', '-q', '-f', file], { stdio: 'inherit' });
}

function configuration(settings: Settings): string {
  const listeners = serviceNames.flatMap((name) => {
    const service = portsOf(settings, name, 0);
    const servers = (['http', 'admin'] as const).map((port) =>
      ([1, 2] as const).map((slot) => {
        const pod = portsOf(settings, name, slot);
        return `  server slot${slot} 127.0.0.1:${pod[port]} check port ${pod.health}`;
      }),
    );
    const http = [
      `listen ${name}`,
      `  bind 127.0.0.1:${service.http}`,
      '  option httpchk GET /health/ready',
      ...(servers[0] ?? []),
    ];
    const admin = [
      `listen ${name}-admin`,
      `  bind 127.0.0.1:${service.admin}`,
      '  option httpchk GET /health/ready',
      ...(servers[1] ?? []),
    ];
    return name === 'gateway' ? [...http, ...admin] : http;
  });
  return `global
  maxconn 2000
defaults
  mode http
  timeout connect 3s
  timeout client 150s
  timeout server 150s
  default-server inter 500ms fall 1 rise 1
${listeners.join('\n')}
`;
}
