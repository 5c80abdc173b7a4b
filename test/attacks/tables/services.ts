import { randomUUID } from 'node:crypto';
import type { Callee, CallingService } from '@vision/contracts/allowed-calls';
import { offsets } from '../../../deploy/local/settings.ts';
import { system } from '../../support/system.ts';
import type { Attack, AttackGroup } from '../attack.ts';
import { rawRequest, sendRaw } from '../raw-http.ts';
import { inTheNameOf, ofAnOwnKey, ofTheService, unsigned } from '../service-tokens.ts';

interface Target {
  service: Callee;
  request: string;
  /** May ask this of the service. */
  caller: CallingService;
  /** May not. */
  stranger: CallingService;
}

/** A request that each service answers to some of the others only. */
const between: Target[] = [
  { service: 'tasks', request: 'GET /v1/vision/tasks', caller: 'gateway', stranger: 'results' },
  { service: 'images', request: 'POST /v1/vision/image-detections', caller: 'gateway', stranger: 'tasks' },
  {
    service: 'results',
    request: `GET /v1/vision/tasks/${randomUUID()}/results`,
    caller: 'gateway',
    stranger: 'tasks',
  },
  { service: 'quota', request: 'GET /v1/vision/usage', caller: 'gateway', stranger: 'images' },
  { service: 'notify', request: 'GET /v1/vision/events', caller: 'gateway', stranger: 'tasks' },
  { service: 'inference', request: 'POST /v1/detect', caller: 'images', stranger: 'tasks' },
];

const MISSING = '401 OP-AUTH-REQUIRED service_token_missing';
const INVALID = '401 OP-AUTH-REQUIRED service_token_invalid';

interface Try {
  name: string;
  expected?: string;
  token: (target: Target, key: string) => string | undefined | Promise<string>;
}

const tries: Try[] = [
  { name: 'no token', expected: MISSING, token: () => undefined },
  { name: 'an API key', token: (_target, key) => key },
  { name: 'an unsigned token', token: () => unsigned() },
  { name: "a token of the attacker's own key", token: ({ service, caller }) => ofAnOwnKey(caller, service) },
  {
    name: 'a token for another service',
    token: ({ service, caller }) => ofTheService(caller, service === 'quota' ? 'tasks' : 'quota'),
  },
  {
    name: 'a token that one service signed in the name of another',
    token: ({ service, caller, stranger }) => inTheNameOf(caller, stranger, service),
  },
  {
    name: 'a token of a service that may not ask this',
    expected: '403 call_not_allowed',
    token: ({ service, stranger }) => ofTheService(stranger, service),
  },
];

function attack(target: Target, { name, expected = INVALID, token }: Try): Attack {
  return {
    name: `${target.service}: ${name}`,
    expected,
    attempt: async ({ caller }) => {
      const { key } = await caller();
      const presented = await token(target, key);
      const url = new URL(system.baseUrl);
      url.port = String(Number(url.port) - offsets.gateway + offsets[target.service]);
      const authorization = presented === undefined ? [] : [`Authorization: Bearer ${presented}`];
      const headers = ['Host: x', 'Content-Length: 0', ...authorization, 'Connection: close'];
      return sendRaw(rawRequest(`${target.request} HTTP/1.1`, headers), { url: url.href });
    },
  };
}

export const services: AttackGroup = {
  title: 'Services behind the gateway',
  wanted: 'an answer in the name of a tenant, from inside the network or from a service that was taken over',
  withinMs: 10_000,
  atOnce: 8,
  attacks: between.flatMap((target) => tries.map((one) => attack(target, one))),
};
