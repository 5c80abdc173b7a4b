import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { admin, Caller, examples, system } from '../support/system.ts';
import { hands } from './support/hands.ts';
import type { HandName } from './support/hands.ts';
import { hostile } from './support/made-up.ts';
import { consoleUrl, inspect, isTooWide, openBrowser, photograph } from './support/visitor.ts';

const images = ['street.jpg', 'street.png'].map((name) => join(examples, name));
const { visit, visitWith } = openBrowser();

/** Elements that would change little by little. */
const MOVING = `[...document.querySelectorAll('*')].filter((element) => {
  const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(element);
  return animationName !== 'none' || !/^0s(, 0s)*$/.test(transitionDuration) || scrollBehavior !== 'auto';
}).map((element) => element.outerHTML.slice(0, 80))`;

async function keyWith(scopes: string[]): Promise<{ key: string; keyId: string }> {
  const { body } = await admin('POST', '/admin/v1/keys', { name: 'browser', scopes });
  return { key: String(body['key']), keyId: String(body['key_id']) };
}

test('from the sign-in to detections in images, with the keyboard alone', async () => {
  const visitor = await visit();
  const { page } = visitor;
  await inspect(visitor, 'sign-in');
  await page.keyboard.press('Tab');
  await page.keyboard.type((await Caller.create()).key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Start' }).waitFor();
  await page.getByText('of 100').waitFor();
  await inspect(visitor, 'start');

  await page.getByRole('link', { name: 'Try images' }).press('Enter');
  await page.locator('input[type=file]').setInputFiles(images);
  await photograph(page, 'images-chosen');
  await page.getByRole('button', { name: 'Detect objects' }).press('Enter');
  const rows = page.locator('.objects tbody tr', { hasText: 'person' });
  await rows.first().waitFor();
  const [slider, before] = [page.getByLabel('Lowest score'), await rows.count()];
  await slider.press('End');
  expect(await rows.count()).toBeLessThan(before);
  await slider.fill('0.5');
  expect(await rows.count()).toBeGreaterThan(0);
  await page.getByLabel('person').press('Space');
  expect(await rows.count()).toBe(0);
  await page.getByLabel('person').press('Space');
  await inspect(visitor, 'images');
  await visitor.close();
});

test('a wrong key is said so, and nothing is kept of it', async () => {
  const visitor = await visit();
  const { page } = visitor;
  await page.getByLabel('API key').fill('vk_12');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('has 63 characters').waitFor();
  await page.getByLabel('API key').fill(`vk_${'0'.repeat(16)}_${'A'.repeat(43)}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('did not accept the key').waitFor();
  await inspect(visitor, 'sign-in-rejected');
  expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
  await visitor.close();
});

test('a key is kept for the tab only when asked, and is gone after the sign-out', async () => {
  const visitor = await visit();
  const { page, signIn } = visitor;
  const { key } = await Caller.create();
  await signIn(key);
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Keep the key').check();
  await signIn(key);
  await page.reload();
  await page.getByRole('heading', { name: 'Start' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out').waitFor();
  expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
  expect(page.url()).not.toContain('vk_');
  await visitor.close();
});

test('a one-time address signs in once, and its code is nowhere afterwards', async () => {
  const { subject } = await Caller.create();
  const { body } = await admin('POST', '/admin/v1/console-codes', { subject });
  const fragment = `#code=${String(body['code'])}`;
  const visitor = await visit({}, fragment);
  await visitor.page.getByRole('heading', { name: 'Start' }).waitFor();
  expect(visitor.page.url()).toBe(consoleUrl);
  await visitor.page.goBack();
  expect(visitor.page.url()).not.toContain('code');
  await visitor.close();
  const second = await visit({}, fragment);
  await second.page.getByText('has expired or was used before').waitFor();
  await photograph(second.page, 'sign-in-code-used');
  await second.close();
});

/** Collects the addresses of requests that the service refuses. */
function refusals(page: Page): string[] {
  const urls: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 403) urls.push(new URL(response.url()).pathname);
  });
  return urls;
}

test('what the key may do is said at the sign-in, and pages that it may not use say so without asking', async () => {
  const visitor = await visitWith((await keyWith(['read'])).key);
  const { page, go, signIn } = visitor;
  const refused = refusals(page);
  const may = (scope: string, answer: string) =>
    page.getByRole('row', { name: new RegExp(`${scope} ${answer}$`) }).waitFor();
  await may('read', 'Allowed');
  await may('create', 'Not allowed');
  await may('notify', 'Not allowed');
  for (const fragment of ['#/images', '#/tasks/new-stream', '#/tasks/new-upload']) {
    await go(fragment);
    await page.getByText('lacks the scope “create”').waitFor();
  }
  await go('#/images');
  await page.locator('input[type=file]').setInputFiles(images);
  expect(await page.getByRole('button', { name: 'Detect objects' }).isDisabled()).toBe(true);
  await inspect(visitor, 'scope-missing');
  for (const fragment of ['#/webhooks', '#/webhooks/desk', '#/alarms/new-rule', '#/alarms']) {
    await go(fragment);
    await page.getByText('lacks the scope “notify”').waitFor();
  }
  expect(refused).toEqual([]);

  await go('#/');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn((await keyWith(['create'])).key);
  await may('read', 'Not allowed');
  for (const fragment of ['#/tasks', `#/tasks/${randomUUID()}`, `#/images/${randomUUID()}`, '#/alarms']) {
    await go(fragment);
    await page.getByText('lacks the scope “read”').waitFor();
    expect(await page.locator('main .notice').count()).toBe(1);
    expect(await page.getByText('Loading…').count()).toBe(0);
  }
  expect(refused).toEqual([]);
  expect(await page.getByRole('alert').count()).toBe(0);
  await visitor.close();
});

test('a key that cannot read starts work with the code of a scene', async () => {
  const visitor = await visitWith((await keyWith(['create'])).key, '#/tasks/new-upload');
  const { page } = visitor;
  await page.locator('input[type=file]').setInputFiles(join(examples, 'street.mp4'));
  const upload = page.getByRole('button', { name: 'Upload and detect' });
  expect(await upload.isDisabled()).toBe(true);
  await page.getByLabel('Scene').fill('person_vehicle');
  await upload.click();
  await page.getByText('lacks the scope “read”').waitFor();
  await page.getByRole('button', { name: 'Copy Task ID' }).waitFor();
  await inspect(visitor, 'task-scope-missing');
  await visitor.close();
});

test.each(Object.keys(hands) as HandName[])('a key that is revoked ends the session, by %s', async (handName) => {
  const visitor = await visit();
  const { page } = visitor;
  const hand = hands[handName](page);
  const { key, keyId } = await keyWith(['read']);
  await hand.write('API key', key);
  await hand.press('Sign in');
  await page.getByRole('heading', { name: 'Start' }).waitFor();
  await hand.press('Tasks');
  await admin('DELETE', `/admin/v1/keys/${keyId}`);
  await page.getByText('no longer accepts the key').waitFor();
  if (handName === 'mouse') await inspect(visitor, 'sign-in-revoked');
  // The way back is the sign-in.
  await hand.write('API key', (await keyWith(['read'])).key);
  await hand.press('Sign in');
  await page.getByRole('heading', { name: 'Tasks' }).waitFor();
  await visitor.close();
});

test('a lost connection is said, and ends by itself', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await go('#/tasks');
  await page.getByText('No tasks yet').waitFor();
  await page.context().setOffline(true);
  await page.getByText('Connection lost. The console keeps trying.').waitFor();
  await page.getByText('No tasks yet').waitFor();
  await inspect(visitor, 'offline');
  await page.context().setOffline(false);
  await page.getByText('Connection lost. The console keeps trying.').waitFor({ state: 'hidden' });
  await visitor.close();
});

test('labels and names of others are text, whatever they hold', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await page.route('**/api/op/v1/scenes', async (route) => {
    const response = await route.fetch();
    const { scenes } = (await response.json()) as { scenes: Record<string, unknown>[] };
    const changed = scenes.map((scene) => ({ ...scene, name: hostile[0], description: hostile[1], labels: hostile }));
    await route.fulfill({ response, json: { scenes: changed } });
  });
  await page.route('**/v1/vision/image-detections', async (route) => {
    const bbox = { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.4, height: 0.4 };
    const objects = hostile.map((label) => ({ label, score: 0.99, bbox }));
    const json = {
      task_id: '1',
      request_id: '1',
      status: 'succeeded',
      results: [{ seq: 0, status: 'succeeded', objects }],
    };
    await route.fulfill({ status: 201, json });
  });
  await signIn((await Caller.create()).key);
  await page
    .getByText(hostile[0] ?? '')
    .first()
    .waitFor();
  await go('#/images');
  await page.locator('input[type=file]').setInputFiles(images.slice(0, 1));
  await page.getByRole('button', { name: 'Detect objects' }).click();
  await page.locator('.objects td', { hasText: '<img' }).waitFor();
  expect(await page.locator('img[src=x]').count()).toBe(0);
  expect(await page.title()).toBe('Try images · Vision');
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await isTooWide(page)).toBe(false);
  await photograph(page, 'hostile-390');
  await visitor.close();
});

test('at 390 pixels a viewer detects objects in images, and finds the call again in the list', async () => {
  const visitor = await visit({ viewport: { width: 390, height: 844 }, hasTouch: true, reducedMotion: 'reduce' });
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await page.getByRole('link', { name: 'Try images' }).tap();
  await inspect(visitor, 'images-empty');
  await page.locator('input[type=file]').setInputFiles(images);
  await page.getByRole('button', { name: 'Detect objects' }).tap();
  const rows = page.locator('.objects tbody tr', { hasText: 'person' });
  await rows.first().waitFor();
  await page.getByRole('link', { name: 'Tasks', exact: true }).tap();
  await page.locator('.list a').first().tap();
  await page.getByRole('heading', { name: 'Image call' }).waitFor();
  await rows.first().waitFor();
  await inspect(visitor, 'image-call');
  // Nothing moves for a viewer who has asked for that.
  expect(await page.evaluate(MOVING)).toEqual([]);
  for (const [fragment, name] of [
    ['#/tasks/new-upload', 'new-upload'],
    ['#/nowhere', 'unknown'],
  ] as const) {
    await go(fragment);
    await page.locator('h1').waitFor();
    await inspect(visitor, name);
  }
  await visitor.close();
});

test('the first load is at most 120 KiB, and all of it comes from the gateway', async () => {
  const visitor = await visit();
  const sizes: number[] = [];
  visitor.page.on('requestfinished', (request) => {
    void request.sizes().then(({ responseBodySize }) => sizes.push(responseBodySize));
  });
  await visitor.page.goto(`${consoleUrl}?again`, { waitUntil: 'networkidle' });
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(120 * 1024);
  expect(new URL(visitor.page.url()).origin).toBe(system.baseUrl);
  await visitor.close();
});
