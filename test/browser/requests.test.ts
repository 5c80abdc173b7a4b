import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { until } from '@vision/shared/testing/until';
import { Caller } from '../support/system.ts';
import { refusal, serveTask, TASK_ID } from './support/made-up.ts';
import { launchBrowser, visit } from './support/visitor.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Counts the requests whose address has a part. */
function counted(page: Page): (part: string) => number {
  const urls: string[] = [];
  page.on('request', (request) => urls.push(request.url()));
  return (part) => urls.filter((url) => url.includes(part)).length;
}

/** Lets time pass until what is asked for again and again has been, some times. */
async function passTurns(page: Page, asked: () => number): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) {
    const before = asked();
    await page.clock.fastForward(6_000);
    await until(() => asked() > before);
  }
}

test('images that cannot come are asked for once, and older alarms are not asked for again', async () => {
  const visitor = await visit(browser);
  const { page, signIn, go, complaints } = visitor;
  await signIn((await Caller.create()).key);
  await page.clock.install();
  await serveTask(page, 1);
  const asked = counted(page);
  await go('#/alarms');
  // Four alarms that are open and four that are not; then four older ones.
  await until(() => asked('/snapshot') === 8);
  await page.getByRole('button', { name: 'Older alarms' }).click();
  await until(() => asked('/snapshot') === 12);
  await passTurns(page, () => asked('state=open'));
  expect([asked('/snapshot'), asked('cursor=older')]).toEqual([12, 1]);
  expect(complaints).toEqual([]);
  await visitor.close();
});

test('the page of a rule reads its source once at a time, and an image that cannot come once', async () => {
  const visitor = await visit(browser);
  const { page, signIn, go, complaints } = visitor;
  await signIn((await Caller.create()).key);
  await page.clock.install();
  await serveTask(page, 1, 'stream');
  const release = Promise.withResolvers<undefined>();
  await page.route('**/source', async (route) => {
    await release.promise;
    await route.fallback();
  });
  const asked = counted(page);
  await go(`#/alarms/new-rule/${TASK_ID}`);
  await page.getByRole('button', { name: 'Part of the image' }).click();
  await page.getByRole('button', { name: /^Corner 1 of 4/ }).press('ArrowLeft');
  await page.locator('.shape [role=status]').getByText('19 % across').waitFor();
  expect(asked('/source')).toBe(1);
  release.resolve(undefined);
  await page.getByText('There is no image of this task.').waitFor();
  await passTurns(page, () => asked('/source'));
  expect(asked('/live-snapshot')).toBe(1);
  expect(complaints).toEqual([]);
  await visitor.close();
});

test('a stop that failed is tried again, and then nothing says that it failed', async () => {
  const visitor = await visit(browser);
  const { page, signIn, go, complaints } = visitor;
  await signIn((await Caller.create()).key);
  await serveTask(page, 1, 'stream');
  let tries = 0;
  await page.route('**/stop', async (route) => {
    tries += 1;
    if (tries === 1) await route.fulfill(refusal(500, 'made_up'));
    else await route.fulfill({ json: { task_id: TASK_ID, status: 'stopping' } });
  });
  await go(`#/tasks/${TASK_ID}`);
  const stop = async () => {
    await page.getByRole('button', { name: 'Stop the task' }).click();
    await page.getByRole('button', { name: 'Stop it' }).click();
  };
  await stop();
  await page.getByText('The service failed').waitFor();
  await stop();
  await page.getByText('The service failed').waitFor({ state: 'hidden' });
  expect(tries).toBe(2);
  expect(complaints).toEqual([]);
  await visitor.close();
});
