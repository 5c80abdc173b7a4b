import { expect, test } from '@jest/globals';
import { fail } from '@vision/contracts/errors';
import { countCreate } from './count-create.ts';
import type { Created } from './create-draft.ts';

const counted = async (creating: Promise<Created>) => {
  const seen: string[] = [];
  const signals = {
    created: (facts: { kind: string; outcome: string }) => void seen.push(`${facts.kind} ${facts.outcome}`),
  };
  await countCreate(signals, 'stream', creating).catch(() => undefined);
  return seen;
};
const created = async (status: string, replayed: boolean) => ({ task: { status }, replayed }) as Created;

test('counts a create request by the state of its task, as `replayed`, or by the reason of its refusal', async () => {
  expect(await counted(created('resolving', false))).toEqual(['stream resolving']);
  expect(await counted(created('running', true))).toEqual(['stream replayed']);
  expect(await counted(Promise.reject(fail.maintenance()))).toEqual(['stream maintenance']);
  expect(await counted(Promise.reject(new Error('a bug')))).toEqual(['stream failed']);
});

test('the caller gets the result or the error of the create request', async () => {
  const signals = { created: () => undefined };
  const refusal = fail.upstreamDown('inference_unreachable');
  await expect(countCreate(signals, 'upload', Promise.reject(refusal))).rejects.toBe(refusal);
  await expect(countCreate(signals, 'upload', created('running', false))).resolves.toMatchObject({ replayed: false });
});
