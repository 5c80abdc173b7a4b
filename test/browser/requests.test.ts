import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@vision/shared/testing/until';
import { Caller } from '../support/system.ts';
import { alarm, refusal, rule, serveTask, task, TASK_ID } from './support/made-up.ts';
import { openBrowser } from './support/visitor.ts';

const { visit } = openBrowser();

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
  const visitor = await visit();
  const { page, signIn, go } = visitor;
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
  await visitor.close();
});

test('the page of a rule reads its source once at a time, and an image that cannot come once', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
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
  await visitor.close();
});

test('a stop that failed is tried again, and then nothing says that it failed', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
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
  await visitor.close();
});

test('every open alarm can be reached, and the verdicts of every rule', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await serveTask(page, 1);
  await page.route('**/v1/vision/alarms?*', async (route) => {
    const { searchParams } = new URL(route.request().url());
    const isFirst = searchParams.get('state') === 'open' && !searchParams.has('cursor');
    const item = alarm(searchParams.has('cursor') ? 3 : 0);
    await route.fulfill({ json: { items: [item], next_cursor: isFirst ? 'older' : '', resume_cursor: '' } });
  });
  const rules = Array.from({ length: 25 }, (_, index) => ({ ...rule, rule_id: `r${index}`, name: `Rule ${index}` }));
  await page.route('**/v1/vision/alarm-rules', (route) =>
    route.fulfill({ json: { items: rules.map((one) => ({ ...one, verdicts: undefined })) } }),
  );
  await page.route('**/v1/vision/alarm-rules/*', (route) => route.fulfill({ json: rules[0] ?? {} }));
  await go('#/alarms');
  const verdicts = page.getByRole('cell', { name: '0 confirmed, 0 false, 1 without verdict' });
  await page.getByText('Verdicts are counted for the first 20 rules.').waitFor();
  expect(await verdicts.count()).toBe(20);
  await page.getByRole('button', { name: 'Count verdicts of more rules' }).click();
  await until(async () => (await verdicts.count()) === 25);
  const open = page.getByRole('region', { name: 'Open' });
  const link = open.getByRole('link').first();
  const before = await link.innerText();
  await page.getByRole('button', { name: 'Older open alarms' }).click();
  await until(async () => (await link.innerText()) !== before);
  await page.getByRole('button', { name: 'Newest open alarms' }).click();
  await until(async () => (await link.innerText()) === before);
  await visitor.close();
});

test('the way back from a task leads to the list as it was; the navigation begins it anew', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await serveTask(page, 1);
  await page.route('**/v1/vision/tasks?*', async (route) => {
    const next = route.request().url().includes('cursor=') ? '' : 'older';
    await route.fulfill({ json: { items: [task], next_cursor: next, resume_cursor: '' } });
  });
  await go('#/tasks');
  await page.getByLabel('Status').selectOption('succeeded');
  await page.getByRole('button', { name: 'Older tasks' }).click();
  await page.getByRole('link', { name: /img src=x/ }).click();
  const back = page.getByRole('link', { name: 'Back to tasks' });
  await back.waitFor();
  // The list is left, so only its return asks for this page of it.
  const asked = page.waitForRequest((request) => /tasks\?.*status=succeeded.*cursor=older/.test(request.url()));
  await back.click();
  expect(await page.getByLabel('Status').inputValue()).toBe('succeeded');
  await asked;
  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  await until(async () => (await page.getByLabel('Status').inputValue()) === '');
  await visitor.close();
});
