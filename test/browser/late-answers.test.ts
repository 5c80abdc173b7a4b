import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Caller, examples } from '../support/system.ts';
import { openBrowser } from './support/visitor.ts';

const image = (name: string) => join(examples, name);
const { visitWith } = openBrowser();

/** Holds back the answer to a request, in place of the service; returns what gives it, and waits until it is drawn. */
async function holdBack(page: Page, path: string, answer: object): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<undefined>();
  const given = Promise.withResolvers<undefined>();
  await page.route(path, async (route) => {
    await held.promise;
    // A request that the page has ended gets no answer any more.
    await route.fulfill(answer).catch(() => undefined);
    given.resolve(undefined);
  });
  return async () => {
    held.resolve(undefined);
    await given.promise;
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  };
}

const bbox = { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.4, height: 0.4 };
const objects = [{ label: 'car', score: 0.99, bbox }];
const results = [{ seq: 0, status: 'succeeded', objects }];
const detection = { status: 201, json: { task_id: '1', request_id: '1', status: 'succeeded', results } };

test('a late answer is not drawn on images that were chosen meanwhile', async () => {
  const visitor = await visitWith((await Caller.create()).key, '#/images');
  const { page } = visitor;
  const release = await holdBack(page, '**/v1/vision/image-detections', detection);
  await page.locator('input[type=file]').setInputFiles(image('street.jpg'));
  await page.getByRole('button', { name: 'Detect objects' }).click();
  await page.getByRole('button', { name: 'Detecting…' }).waitFor();
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.locator('input[type=file]').setInputFiles(image('street.png'));
  // The page does not wait for it any longer.
  await page.getByRole('button', { name: 'Detect objects' }).waitFor();
  await release();
  expect(await page.locator('.objects').count()).toBe(0);
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.unroute('**/v1/vision/image-detections');
  await page.getByRole('button', { name: 'Detect objects' }).click();
  await page.locator('.objects tbody tr', { hasText: 'person' }).first().waitFor();
  await visitor.close();
});

test('what the test of an address finds is not shown for another one', async () => {
  const visitor = await visitWith((await Caller.create()).key, '#/tasks/new-stream');
  const { page } = visitor;
  const release = await holdBack(page, '**/v1/vision/stream-probes', { status: 200, json: { capacity: 'none' } });
  const address = page.getByLabel('Address of the stream');
  await address.fill('http://127.0.0.1:9/old.ts');
  await page.getByRole('button', { name: 'Test the address' }).click();
  await page.getByRole('button', { name: 'Testing…' }).waitFor();
  await address.fill('http://127.0.0.1:9/new.ts');
  await page.getByRole('button', { name: 'Test the address', disabled: false }).waitFor();
  await release();
  expect(await page.getByText('The stream answered').count()).toBe(0);
  expect(await page.locator('.notice').count()).toBe(0);
  await visitor.close();
});
