import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { until } from '@vision/shared/testing/until';
import { Caller } from '../support/system.ts';
import { startCamera } from './support/camera.ts';
import { Keyboard } from './support/keyboard.ts';
import { analysed } from './support/video-task.ts';
import { inspect, openBrowser, photograph } from './support/visitor.ts';

const { visit, visitWith } = openBrowser();
let caller: Caller;
let taskId: string;
beforeAll(async () => {
  caller = await Caller.create({ video_tasks_per_day: 10 });
  taskId = await analysed(caller, 'street');
});

const corner = (page: Page, name: RegExp) => page.getByRole('button', { name });

/** Moves a corner with the mouse, to a place in shares of the image. */
async function drag(page: Page, from: Locator, [x, y]: [number, number]): Promise<void> {
  await page.locator('.shape-area').scrollIntoViewIfNeeded();
  const [start, area] = [await from.boundingBox(), await page.locator('.shape-area').boundingBox()];
  if (!start || !area) throw new Error('there is nothing to drag');
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
  await page.mouse.down();
  await page.mouse.move(area.x + x * area.width, area.y + y * area.height, { steps: 4 });
  await page.mouse.up();
}

test('a rule is drawn with the mouse, tested, saved, and its alarm found to be false', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await go('#/alarms');
  await page.getByText('No rules yet').waitFor();
  await photograph(page, 'alarms-empty');
  await page.getByRole('link', { name: 'New rule' }).click();

  // Drawn on the frame of the video: one corner is dragged, one is added.
  await page
    .getByRole('option', { name: /street/ })
    .first()
    .waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Part of the image' }).click();
  await page.locator('.shape-area video').waitFor();
  await drag(page, corner(page, /^Corner 1 of 4/), [0.1, 0.1]);
  await corner(page, /^Corner 1 of 4, 10 % across, 10 % down/).waitFor();
  // Dragging may scroll the page: where the area is counts from here.
  const area = await page.locator('.shape-area').boundingBox();
  if (!area) throw new Error('there is no image to draw on');
  const at = (x: number, y: number) => [area.x + x * area.width, area.y + y * area.height] as const;
  await page.mouse.click(...at(0.5, 0.05));
  await corner(page, /^Corner 2 of 5, 50 % across, 5 % down/).waitFor();
  await page.getByRole('button', { name: 'Test on stored frames' }).click();
  await page.getByText(/^\d+ alarms? in /).waitFor();
  expect(await page.locator('.alarm-mark').count()).toBeGreaterThan(0);
  await inspect(visitor, 'rule-tested');
  await page.getByLabel('car').check();
  await page.getByText('The rule has changed since').waitFor();
  await page.getByLabel('car').uncheck();

  await page.getByRole('button', { name: 'Save the rule' }).click();
  await page.getByRole('link', { name: 'person at street' }).waitFor();
  await analysed(caller, 'street');
  const alarm = page.getByRole('listitem', { name: 'person at street' }).first();
  await alarm.waitFor();
  await alarm.locator('img').waitFor();
  // A second tab has no key before its viewer signs in, and sees what the first one does.
  const second = await page.context().newPage();
  await second.goto(page.url());
  await second.getByLabel('API key').fill(caller.key);
  await second.getByRole('button', { name: 'Sign in' }).click();
  const seen = second.getByRole('listitem', { name: 'person at street' }).first();
  await seen.waitFor();
  await alarm.getByRole('button', { name: 'False alarm' }).click();
  await page.getByText('0 confirmed, 1 false').waitFor();
  await seen.getByRole('button', { name: 'False alarm', pressed: true }).waitFor();
  await second.getByRole('button', { name: 'Sign out' }).click();
  await second.close();
  await inspect(visitor, 'alarms');
  await alarm.getByRole('button', { name: 'Mute the rule' }).click();
  await alarm.getByText('The rule is muted').waitFor();
  await page.getByRole('link', { name: 'person at street' }).click();
  await page.getByRole('button', { name: 'Delete the rule' }).waitFor();
  await corner(page, /^Corner 2 of 5/).waitFor();
  await inspect(visitor, 'rule');
  await page.getByRole('button', { name: 'Delete the rule' }).click();
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText('The rule was deleted.').waitFor();
  await visitor.close();
});

test('a rule is drawn, tested and saved with the keyboard alone, and every change of it is said', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  const keys = new Keyboard(page);
  const said = (text: RegExp) => page.locator('.shape [role=status]').getByText(text).waitFor();
  await signIn(caller.key);
  await go(`#/alarms/new-rule/${taskId}`);
  await page
    .getByRole('option', { name: /street/ })
    .first()
    .waitFor({ state: 'attached' });

  // A half of the image takes no drawing, and is where one begins that differs a little.
  await keys.tabTo('Left half');
  await keys.press('Enter');
  await keys.tabTo(/^Corner 2 of 4, 50 % across, 0 % down/);
  await keys.press('ArrowRight');
  await page.getByRole('button', { name: 'Part of the image', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'Part of the image' }).focus();
  await keys.press('Enter');
  await keys.tabTo(/^Corner 1 of 4, 20 % across, 20 % down/);
  await keys.press('ArrowLeft', 3);
  await keys.press('Shift+ArrowDown', 2);
  await said(/^Corner 1 of 4, 17 % across, 30 % down/);
  // A corner that keys move stays in sight, also where the image is higher than the window.
  const size = page.viewportSize();
  await page.setViewportSize({ width: 800, height: 300 });
  await keys.press('Shift+ArrowDown', 11);
  await until(async () => {
    const box = await corner(page, /^Corner 1 of 4, 17 % across, 85 % down/).boundingBox();
    return box !== null && box.y >= 0 && box.y + box.height <= 300;
  });
  await keys.press('Shift+ArrowUp', 11);
  if (size) await page.setViewportSize(size);
  await keys.press('Enter');
  await said(/^Corner 2 added, 5 corners/);
  expect(await keys.focused()).toMatch(/^Corner 2 of 5/);
  await keys.press('Delete');
  await said(/^Corner removed, 4 corners left/);
  expect(await keys.focused()).toMatch(/^Corner 1 of 4/);
  await keys.tabTo('Test on stored frames');
  await keys.press('Enter');
  await page.getByText(/^\d+ alarms? in /).waitFor();
  expect(await page.locator('.alarm-mark').count()).toBeGreaterThan(0);
  await keys.tabTo('Name of the rule');
  await keys.press('Enter');
  await page.getByRole('link', { name: 'person at street' }).waitFor();
  await page.getByText(/, in a part of the image, for 1 s/).waitFor();
  const { body: made } = await caller.get('/v1/vision/alarm-rules');
  const [area] = made['items'] as { rule_id: string; when: { region: number[][] } }[];
  expect(area?.when.region).toHaveLength(4);
  await analysed(caller, 'street');
  await page.getByRole('listitem', { name: 'person at street' }).first().waitFor();
  await keys.tabTo('False alarm');
  await keys.press('Enter');
  await page.getByText(/^0 confirmed, [1-9]\d* false/).waitFor();
  await caller.send('DELETE', `/v1/vision/alarm-rules/${area?.rule_id ?? ''}`);

  await go(`#/alarms/new-rule/${taskId}`);
  await keys.tabTo('Part of the image');
  await keys.press('Enter');
  await keys.tabTo(/^Corner 1 of 4/);
  await keys.press('Delete');
  await keys.press('Delete');
  await said(/at least 3 corners/);

  // A line is drawn the same way.
  await page.getByLabel('Raise an alarm when').focus();
  await page.keyboard.type('an object crosses');
  await keys.tabTo(/^Point 1, /);
  await keys.press('Shift+ArrowLeft', 4);
  await said(/^Point 1, 0 % across, 50 % down/);
  await keys.tabTo(/^Point 2, /);
  await keys.press('Shift+ArrowRight', 4);
  await keys.tabTo('Test on stored frames');
  await keys.press('Enter');
  await page.getByText(/^(\d+|No) alarms? in /).waitFor();
  expect(await keys.focused()).toBe('Test on stored frames');
  await inspect(visitor, 'rule-line');
  await keys.tabTo('Name of the rule');
  await keys.press('Enter');
  await page.getByRole('link', { name: 'person at street' }).waitFor();
  const { body } = await caller.get('/v1/vision/alarm-rules');
  expect(body['items']).toMatchObject([
    {
      scope: { client_refs: ['street'] },
      when: {
        kind: 'line_crossed',
        labels: ['person'],
        line: [
          [0, 0.5],
          [1, 0.5],
        ],
      },
    },
  ]);
  await visitor.close();
});

test('a line is dragged with the mouse, and a corner of an area removed', async () => {
  const visitor = await visitWith(caller.key, `#/alarms/new-rule/${taskId}`);
  const { page } = visitor;
  await page.getByLabel('Raise an alarm when').selectOption('line_crossed');
  await page.locator('.shape-area video').waitFor();
  await drag(page, corner(page, /^Point 1, /), [0.1, 0.3]);
  await corner(page, /^Point 1, 10 % across, 30 % down/).waitFor();
  await drag(page, corner(page, /^Point 2, /), [0.9, 0.7]);
  await corner(page, /^Point 2, 90 % across, 70 % down/).waitFor();
  await page.getByLabel('Raise an alarm when').selectOption('object_present');
  await page.getByRole('button', { name: 'Part of the image' }).click();
  await corner(page, /^Corner 2 of 4/).click();
  await page.getByRole('button', { name: 'Remove corner 2' }).click();
  await corner(page, /^Corner 1 of 3/).waitFor();
  expect(await page.getByRole('button', { name: /^Remove corner/ }).isDisabled()).toBe(true);
  await visitor.close();
});

test('an area is drawn on the newest image of a stream', async () => {
  const camera = await startCamera();
  const { body } = await caller.send('POST', '/v1/vision/tasks?snapshots=tracks', {
    body: JSON.stringify({ scene_code: 'person_vehicle', stream_url: camera.url }),
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
  });
  const streamId = String(body['task_id']);
  const visitor = await visitWith(caller.key, `#/alarms/new-rule/${streamId}`);
  const { page } = visitor;
  await page.getByRole('button', { name: 'Part of the image' }).click();
  await page.locator('.shape-area img').waitFor();
  await drag(page, corner(page, /^Corner 1 of 4/), [0.1, 0.1]);
  await corner(page, /^Corner 1 of 4, 10 % across, 10 % down/).waitFor();
  await inspect(visitor, 'rule-live');
  await caller.stop(streamId);
  await visitor.close();
});

test('every kind of rule and a schedule are saved as the form says', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  const save = async (kind: string, name: string, fill: () => Promise<void>) => {
    await go(`#/alarms/new-rule/${taskId}`);
    await page.getByLabel('Raise an alarm when').selectOption(kind);
    await fill();
    await page.getByLabel('Name of the rule').fill(name);
    await page.getByRole('button', { name: 'Save the rule' }).click();
    await page.getByRole('link', { name }).waitFor();
  };
  await save('object_absent', 'Guard', async () => {
    await page.getByLabel('Missing for at least').fill('120');
    await page.getByText('More settings').click();
    await page.getByLabel('Only at certain times').check();
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByLabel('Sat').check();
    await page.getByLabel('From').fill('22:00');
    await inspect(visitor, 'rule-schedule');
  });
  await save('source_down', 'Camera', () =>
    page
      .getByLabel('The rule applies to')
      .selectOption('all')
      .then(() => undefined),
  );
  await save('task_ended', 'Ends', () => page.getByLabel('Stopped').check());
  const { body } = await caller.get('/v1/vision/alarm-rules');
  const rules = Object.fromEntries((body['items'] as { name: string }[]).map((rule) => [rule.name, rule]));
  expect(rules['Guard']).toMatchObject({
    when: { kind: 'object_absent', for_ms: 120_000 },
    schedule: {
      time_zone: 'Europe/Berlin',
      windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat'], from: '22:00', to: '06:00' }],
    },
  });
  expect(rules['Camera']).toMatchObject({ when: { kind: 'source_down', for_ms: 60_000 } });
  expect(rules['Camera']).not.toHaveProperty('scope');
  expect(rules['Ends']).toMatchObject({ when: { kind: 'task_ended', statuses: ['stopped', 'failed'] } });
  await visitor.close();
});
