import { expect, test } from '@jest/globals';
import type { Route } from 'playwright-core';
import { Caller } from '../support/system.ts';
import { refusal } from './support/made-up.ts';
import { openBrowser, seriousFindings } from './support/visitor.ts';

const { visit } = openBrowser();

const YARD = '/v1/vision/alarm-rules/yard';
const yard = { name: 'Yard', when: { kind: 'source_down', for_ms: 60_000 }, min_interval_ms: 60_000 };

/** What somebody else does with the rule, in another page or by API. */
async function put(caller: Caller, changes: object): Promise<void> {
  const body = JSON.stringify({ ...yard, ...changes });
  const { status, text } = await caller.send('PUT', YARD, { body, headers: { 'content-type': 'application/json' } });
  if (status !== 200 && status !== 201) throw new Error(`the rule was not stored: ${status} ${text}`);
}

test('a page that is behind mutes the rule as it is now, and brings back none that was deleted', async () => {
  const caller = await Caller.create();
  await put(caller, {});
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await go('#/alarms');
  await page.getByRole('link', { name: 'Yard' }).waitFor();
  await put(caller, { when: { kind: 'source_down', for_ms: 90_000 }, scope: { client_refs: ['gate'] } });
  await page.getByRole('button', { name: 'Mute the rule' }).click();
  await page.getByRole('button', { name: 'Unmute the rule' }).waitFor();
  const { body } = await caller.get(YARD);
  expect(body).toMatchObject({ enabled: false, when: { for_ms: 90_000 }, scope: { client_refs: ['gate'] } });

  const { text: before } = await caller.get('/v1/vision/alarm-rules');
  let isBehind = true;
  await page.route(/\/alarm-rules$/, (route: Route) =>
    isBehind ? route.fulfill({ body: before, contentType: 'application/json' }) : route.fallback(),
  );
  await caller.send('DELETE', YARD);
  await page.getByRole('button', { name: 'Unmute the rule' }).click();
  await page.getByText('was deleted meanwhile').waitFor();
  isBehind = false;
  await page.getByText('No rules yet').waitFor();
  expect((await caller.get(YARD)).status).toBe(404);
  expect(await page.getByRole('alert').count()).toBe(0);
  await visitor.close();
});

test('a rule that was muted meanwhile stays muted when it is saved, and one that was deleted stays deleted', async () => {
  const caller = await Caller.create();
  await put(caller, {});
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  const saveAs = async (name: string) => {
    await go('#/alarms/rules/yard');
    await page.getByLabel('Name of the rule').fill(name);
    return () => page.getByRole('button', { name: 'Save the rule' }).click();
  };
  await signIn(caller.key);
  const save = await saveAs('Gate');
  await put(caller, { enabled: false });
  await save();
  await page.getByRole('link', { name: 'Gate' }).waitFor();
  expect((await caller.get(YARD)).body).toMatchObject({ name: 'Gate', enabled: false });

  const saveAgain = await saveAs('Door');
  await caller.send('DELETE', YARD);
  await saveAgain();
  await page.getByText('There is no such rule, or it was deleted.').waitFor();
  expect((await caller.get(YARD)).status).toBe(404);
  await visitor.close();
});

test('a new rule whose tasks cannot be read applies to all of them only when its viewer says so', async () => {
  const caller = await Caller.create();
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await page.route('**/v1/vision/tasks?*', (route) => route.fulfill(refusal(500, 'made_up')));
  await go('#/alarms/new-rule');
  await page.getByLabel('Raise an alarm when').selectOption('source_down');
  await page.getByText('The service failed').waitFor();
  await page.getByText('Choose the tasks that the rule applies to.').first().waitFor();
  const save = page.getByRole('button', { name: 'Save the rule' });
  expect(await save.isDisabled()).toBe(true);
  await page.getByLabel('The rule applies to').selectOption('all');
  await save.click();
  await page.getByRole('heading', { name: 'Alarms', level: 1 }).waitFor();
  const { body } = await caller.get('/v1/vision/alarm-rules');
  expect(body['items']).toHaveLength(1);
  await visitor.close();
});

test('a number beyond its bounds stays as it is written, and the rule is not saved with another one', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await go('#/alarms/new-rule');
  await page.getByLabel('Raise an alarm when').selectOption('source_down');
  await page.getByText('There is no video task yet').waitFor();
  const save = page.getByRole('button', { name: 'Save the rule' });
  const time = page.getByLabel('No frames for at least');
  for (const written of ['4', '3601', '']) {
    await time.fill(written);
    await page.getByText('A number from 5 to 3,600.').waitFor();
    expect(await time.inputValue()).toBe(written);
    expect(await save.isDisabled()).toBe(true);
  }
  expect(await seriousFindings(page)).toEqual([]);
  await time.fill('5');
  await page.getByText('A number from 5 to 3,600.').waitFor({ state: 'hidden' });
  expect(await save.isDisabled()).toBe(false);
  await visitor.close();
});
