import type { DnsAnswer } from '@vision/shared/testing/dns-server';
import { until } from '@vision/shared/testing/until';
import { untilStatus } from '../../support/video.ts';
import type { Attack, AttackGroup } from '../attack.ts';
import type { Inner } from '../inner.ts';
import { names } from '../name-server.ts';
import { UNREACHABLE } from '../create-streams.ts';
import { each, said } from '../say.ts';
import { tcpServer } from '../../../services/inference/test/support/live-servers.ts';

/** A name with these addresses, by two schemes. */
const leads = (name: string, answerFor: (inner: Inner) => DnsAnswer): Attack => ({
  name,
  expected: UNREACHABLE,
  attempt: async (target) => {
    const [inner, caller] = [await target.inner(), await target.caller()];
    const host = names.add(() => answerFor(inner));
    const urls = ['rtsp', 'http'].map((scheme) => `${scheme}://${host}:${inner.port}/inner`);
    const answers = await Promise.all(urls.map((url) => caller.createStream({ scene_code: 'ship', stream_url: url })));
    return each(answers.map(said));
  },
});

const at = (...addresses: string[]): DnsAnswer => ({ addresses });

export const nameAttacks: AttackGroup = {
  title: 'Names that lead inside',
  wanted: 'a connection to an inner address, by a name that the attacker answers for',
  withinMs: 40_000,
  atOnce: 30,
  isPatient: true,
  attacks: [
    leads('a name of an inner address', ({ host }) => at(host)),
    leads('a name of a private address', () => at('10.0.0.1')),
    leads('a name of the metadata of clouds', () => at('169.254.169.254')),
    leads('a name of an allowed and an inner address', ({ host }) => at('127.0.0.1', host)),
    leads('a name of an inner address in IPv6 only', ({ host }) => at(`::ffff:${host}`)),
    leads('a name of an allowed address, and an inner one in IPv6', ({ host }) => at('127.0.0.1', `::ffff:${host}`)),
    leads('a name of an address by NAT64', () => at('64:ff9b::7f4d:1')),
    leads('a name of an address by 6to4', () => at('2002:7f4d:1::1')),
    leads('another name of an inner address', ({ host }) => ({ addresses: [host], cname: 'inner.attacks.test' })),
    leads('a name of everything', () => at('0.0.0.0', '::')),
    leads('a name that is not there', () => 'nxdomain'),
    leads('a name without addresses', () => 'nothing'),
    leads('a name server that answers garbage', () => 'garbage'),
    leads('a name server that fails', () => 'servfail'),
    leads('a name server that is silent', () => 'silent'),
    {
      name: 'a name that leads to an inner address from the second look-up on',
      expected: '201, connected again and again, stopped',
      charged: 1,
      attempt: async (target) => {
        const camera = await tcpServer((socket) => {
          // The first look is answered; afterwards the camera is away, so that its name is looked up again.
          socket.once('data', () => (camera.seen.connections === 1 ? socket.end(BEGINNING) : socket.destroy()));
        });
        target.atEnd(camera.close);
        const inner = await target.inner(camera.port);
        let isMoved = false;
        const asked = { afterwards: 0 };
        const host = names.add(() => {
          if (isMoved) asked.afterwards += 1;
          return at(isMoved ? inner.host : '127.0.0.1');
        });
        const caller = await target.caller();
        const url = `http://${host}:${camera.port}/live`;
        const created = await caller.createStream({ scene_code: 'person_vehicle', stream_url: url });
        isMoved = true;
        await until(() => asked.afterwards >= 4, { timeoutMs: 30_000 });
        const id = String(created.body['task_id']);
        await caller.stop(id);
        return `${created.status}, connected again and again, ${await untilStatus(caller, id, 'stopped', 'failed')}`;
      },
    },
    {
      name: 'eight names without an answer, to hold up an honest one',
      expected: `${UNREACHABLE}; meanwhile 201`,
      charged: 1,
      attempt: async (target) => {
        const [attacker, honest] = [await target.caller(), await target.caller()];
        const camera = await tcpServer((socket) => {
          socket.once('data', () => socket.write(BEGINNING));
        });
        target.atEnd(camera.close);
        const silent = Array.from({ length: 8 }, () => `rtsp://${names.add(() => 'silent')}:8554/`);
        const [own, ...others] = await Promise.all([
          honest.createStream({
            scene_code: 'ship',
            stream_url: `http://${names.add(() => at('127.0.0.1'))}:${camera.port}/`,
          }),
          ...silent.map((url) => attacker.createStream({ scene_code: 'ship', stream_url: url })),
        ]);
        await honest.stop(String(own.body['task_id']));
        return `${each(others.map(said))}; meanwhile ${own.status}`;
      },
    },
    {
      name: 'closed, silent, forbidden and unknown places, told apart by time',
      expected: `${UNREACHABLE}, all in the last fifth of the time`,
      attempt: async (target) => {
        const caller = await target.caller();
        const silent = await tcpServer(() => undefined);
        target.atEnd(silent.close);
        const urls = [
          'rtsp://127.0.0.1:1/',
          `rtsp://127.0.0.1:${silent.port}/`,
          `rtsp://${names.add(() => at('10.0.0.1'))}:8554/`,
          `rtsp://${names.add(() => 'nxdomain')}:8554/`,
        ];
        const seen = await Promise.all(
          urls
            .flatMap((url) => [url, url, url])
            .map(async (url) => {
              const from = performance.now();
              const answer = await caller.createStream({ scene_code: 'ship', stream_url: url });
              return { said: said(answer), ms: performance.now() - from };
            }),
        );
        const early = seen.filter(({ ms }) => ms < 0.8 * PROBE_TOTAL_MS).length;
        return `${each(seen.map((one) => one.said))}, ${early === 0 ? 'all in the last fifth of the time' : `${early} early`}`;
      },
    },
  ],
};

/** PROBE_TOTAL_MS of the local system. */
const PROBE_TOTAL_MS = 5_000;

/** An answer that is the beginning of a stream. */
const BEGINNING = Buffer.concat([
  Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: video/x-flv\r\nConnection: close\r\n\r\n'),
  Buffer.from('464c5601050000000900000000', 'hex'),
  Buffer.alloc(1000),
]);
