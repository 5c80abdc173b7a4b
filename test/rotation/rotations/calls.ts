import { randomBytes, randomUUID } from 'node:crypto';
import { callers } from '@vision/contracts/allowed-calls';
import type { Callee, CallingService } from '@vision/contracts/allowed-calls';
import { ping } from '@vision/contracts/status';
import { createTokenSigner } from '@vision/shared/http/service-token';
import { createServiceKey, publicKeyOf, serviceKeyConfig } from '@vision/shared/service-keys';
import { services } from '../../faults/world/replicas.ts';
import type { World } from '../../faults/world/world.ts';
import type { Rotation, Stage } from '../rotation.ts';
import { given } from '../settings.ts';

/** Who may ask whom whether it is there. */
const pings: readonly (readonly [CallingService, Callee])[] = [
  ['tasks', 'quota'],
  ['images', 'quota'],
  ['results', 'tasks'],
  ['tasks', 'images'],
  ['tasks', 'results'],
];

/** The signing keys of all services that call others, in one go; each alone goes the same way. */
export function signingKeys({ world }: Stage): Rotation {
  const olds = new Map(
    callers.map((service) => {
      const privateKey = world.secrets[`${service.toUpperCase() as Uppercase<CallingService>}_SERVICE_KEY`];
      return [service, { privateKey, publicKey: publicKeyOf(service, privateKey) }];
    }),
  );
  const nexts = new Map(callers.map((service) => [service, createServiceKey(service)]));
  const listed = (...keys: (typeof olds)[]) =>
    keys.flatMap((of) => [...of.values()].map(({ publicKey }) => publicKey)).join(',');
  return {
    name: 'signing-keys',
    says: 'Keys that services sign their calls with (`SERVICE_KEY`, `SERVICE_PUBLIC_KEYS`)',
    steps: [
      {
        says: 'add the new public halves everywhere',
        services,
        secrets: () => ({ SERVICE_PUBLIC_KEYS: listed(olds, nexts) }),
      },
      {
        says: 'give each service its new private half',
        services: callers,
        secrets: ({ service }) => ({ SERVICE_KEY: nexts.get(service as CallingService)?.privateKey }),
      },
      {
        says: 'take the old public halves out',
        services,
        secrets: () => ({ SERVICE_PUBLIC_KEYS: listed(nexts) }),
      },
    ],
    stillOpen: async () => {
      const found = await Promise.all(
        pings.map(async ([caller, callee]) => {
          const [byOld, byNext] = await Promise.all(
            [olds, nexts].map((keys) => askAs(world, { caller, callee, privateKey: keys.get(caller)?.privateKey })),
          );
          const isRight = byOld === 401 && byNext === 200;
          return isRight ? [] : [`${caller} → ${callee}: ${byOld} with the old key, ${byNext} with the new one`];
        }),
      );
      return found.flat();
    },
  };
}

interface Asking {
  caller: CallingService;
  callee: Callee;
  privateKey: string | undefined;
}

async function askAs({ replicas }: World, { caller, callee, privateKey = '' }: Asking): Promise<number> {
  const key = serviceKeyConfig.SERVICE_KEY.parse(privateKey);
  const publicKeys = serviceKeyConfig.SERVICE_PUBLIC_KEYS.parse(publicKeyOf(caller, privateKey));
  const token = await createTokenSigner({ issuer: caller, key, publicKeys }).sign(callee, { subject: 'service' });
  const url = replicas.find(({ service }) => service === callee)?.url ?? '';
  return (await fetch(url + ping.path, { headers: { authorization: `Bearer ${token}` } })).status;
}

/** A static token of the backend; at the end the tokens of services take its place, as where the backend is ours. */
export function inferenceToken({ world }: Stage): Rotation {
  const old = given.inferenceToken;
  const next = randomBytes(24).toString('base64url');
  const holders = ['tasks', 'images', 'inference'] as const;
  return {
    name: 'inference-token',
    says: 'Token of the inference backend (`INFERENCE_TOKEN`)',
    steps: [
      { says: 'append the new one', services: holders, secrets: () => ({ INFERENCE_TOKEN: `${old},${next}` }) },
      { says: 'move it to the front', services: holders, secrets: () => ({ INFERENCE_TOKEN: `${next},${old}` }) },
      { says: 'take the old one out', services: holders, secrets: () => ({ INFERENCE_TOKEN: next }) },
      {
        says: 'take it out where the tokens of services are enough',
        services: ['tasks', 'images'],
        secrets: () => ({ INFERENCE_TOKEN: '' }),
      },
    ],
    stillOpen: async () => {
      const ask = async (token: string) => {
        const url = world.replicas.find(({ service }) => service === 'inference')?.url ?? '';
        const headers = { authorization: `Bearer ${token}` };
        return (await fetch(`${url}/v1/jobs?ids=${randomUUID()}`, { headers })).status;
      };
      const [byOld, byNext] = [await ask(old), await ask(next)];
      return byOld === 401 && byNext === 200 ? [] : [`${byOld} with the old token, ${byNext} with the new one`];
    },
  };
}
