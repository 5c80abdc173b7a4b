import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '@vision/shared/testing/until';
import { verifyWebhook } from '../../packages/client/src/webhooks.ts';
import { admin, Caller } from '../support/system.ts';
import { Keyboard } from './support/keyboard.ts';
import { inspect, openBrowser, photograph } from './support/visitor.ts';

interface Received {
  body: string;
  headers: Record<string, string | string[] | undefined>;
}
const received: Received[] = [];
let status = 204;
const receiver = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    received.push({ body: Buffer.concat(chunks).toString(), headers: req.headers });
    res.writeHead(status).end();
  });
});
const address = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
const { visit } = openBrowser();
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  received.length = 0;
  status = 204;
});
afterAll(async () => {
  receiver.close();
  receiver.closeAllConnections();
});

test('an endpoint is created, its secret shown once, and a test delivered, with the keyboard alone', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  const keys = new Keyboard(page);
  await signIn((await Caller.create()).key);
  await go('#/webhooks');
  await page.getByText('No endpoints yet').waitFor();
  await photograph(page, 'webhooks-empty');
  await keys.tabTo('Your name for the endpoint');
  await keys.paste('guard-room');
  await keys.tabTo('Address');
  await keys.paste(address());
  await keys.press('Enter');
  await page.getByText('Copy the secret now').waitFor();
  const secret = await page.locator('.copyable code').innerText();
  await photograph(page, 'webhook-secret');
  await keys.tabTo('I have copied it');
  await keys.press('Enter');
  expect(await keys.focused()).toBe('guard-room');
  await keys.tabTo('Send a test');
  await keys.press('Enter');
  await page.getByRole('row', { name: /webhook_endpoint.test Delivered/ }).waitFor();
  expect(await keys.focused()).toBe('Send a test');
  // A question takes the focus to its answer, and back.
  await keys.tabTo('Replace the secret');
  await keys.press('Enter');
  await until(async () => (await keys.focused()) === 'Make a new one');
  await keys.tabTo('Cancel');
  await keys.press('Enter');
  await until(async () => (await keys.focused()) === 'Replace the secret');
  const [first] = received;
  expect(verifyWebhook(first?.body ?? '', first?.headers ?? {}, secret)).toMatchObject({
    type: 'webhook_endpoint.test',
  });
  expect(await page.content()).not.toContain(secret);
  await inspect(visitor, 'webhook');
  await page.getByRole('link', { name: 'Back to webhooks' }).click();
  await page.getByRole('link', { name: 'guard-room' }).waitFor();
  await inspect(visitor, 'webhooks');
  await visitor.close();
});

test('a failed delivery is sent again, a new secret signs, and missed events follow, with the mouse', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await go('#/webhooks');
  await page.getByLabel('Your name for the endpoint').fill('desk');
  await page.getByLabel('Address').fill(address());
  await page.getByRole('button', { name: 'Create the endpoint' }).click();
  status = 503;
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('answered with 503').first().waitFor();
  await page.getByText('Failing since').waitFor();
  await inspect(visitor, 'webhook-failing');
  status = 204;
  await page.getByRole('button', { name: 'Send again' }).first().click();
  await page
    .getByRole('row', { name: /Delivered/ })
    .first()
    .waitFor();

  await page.getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByRole('button', { name: 'Make a new one' }).click();
  await page.getByText('Signatures of the old secret').waitFor();
  const secret = await page.locator('.copyable code').innerText();
  // A page by plain http has no clipboard.
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
  await page.getByRole('button', { name: 'Copy Secret' }).click();
  await page.getByText('The browser did not copy it.').waitFor();
  expect(await page.evaluate<string>('getSelection().toString()')).toBe(secret);
  expect(await page.getByText('Copied', { exact: true }).count()).toBe(0);
  const before = received.length;
  await page.getByRole('button', { name: 'Send a test' }).click();
  const last = await until(() => (received.length > before ? received.at(-1) : undefined));
  expect(verifyWebhook(last.body, last.headers, secret)).toMatchObject({ type: 'webhook_endpoint.test' });

  await page.getByRole('button', { name: 'Switch off' }).click();
  await page.getByText('You switched it off.').waitFor();
  await inspect(visitor, 'webhook-off');
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByText('You switched it off.').waitFor({ state: 'hidden' });
  await page.getByText('Send missed events again').first().click();
  await page.getByRole('button', { name: 'Send missed events again' }).click();
  await page.getByText('No event was missed').waitFor();

  // The service switches an endpoint off that says it is gone.
  status = 410;
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('the receiver answered 410').waitFor();
  await photograph(page, 'webhook-gone');
  await page.getByRole('button', { name: 'Delete the endpoint' }).click();
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText('No endpoints yet').waitFor();
  await visitor.close();
});

/** Lets the first request to this address arrive, and loses its answer. */
async function loseAnswer(page: Page, method: string, address: RegExp): Promise<void> {
  let isLost = false;
  await page.route(address, async (route) => {
    if (isLost || route.request().method() !== method) return route.fallback();
    isLost = true;
    await route.fetch();
    await route.abort('connectionreset');
  });
}

test('after a lost answer the secret on the page is the one in force, and the old one signs too', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  const shownSecret = () => page.locator('.copyable code').innerText();
  const delivered = async () => {
    const before = received.length;
    await page.getByRole('button', { name: 'Send a test' }).click();
    const { body, headers } = await until(() => (received.length > before ? received.at(-1) : undefined));
    return (secret: string) => verifyWebhook(body, headers, secret);
  };
  await signIn((await Caller.create()).key);
  await go('#/webhooks');
  await loseAnswer(page, 'PUT', /\/webhook-endpoints\/desk$/);
  await page.getByLabel('Your name for the endpoint').fill('desk');
  await page.getByLabel('Address').fill(address());
  await page.getByRole('button', { name: 'Create the endpoint' }).click();
  await page.getByText('Copy the secret now').waitFor();
  const old = await shownSecret();
  expect((await delivered())(old)).toMatchObject({ type: 'webhook_endpoint.test' });
  await page.getByRole('button', { name: 'I have copied it' }).click();

  await loseAnswer(page, 'POST', /\/rotate-secret$/);
  await page.getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByRole('button', { name: 'Make a new one' }).click();
  await page.getByText('Signatures of the old secret').waitFor();
  const next = await shownSecret();
  expect(next).not.toBe(old);
  const check = await delivered();
  for (const secret of [old, next]) expect(check(secret)).toMatchObject({ type: 'webhook_endpoint.test' });
  await visitor.close();
});

test('an endpoint that another page made meanwhile is not replaced', async () => {
  const caller = await Caller.create();
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await go('#/webhooks');
  await page.getByText('No endpoints yet').waitFor();
  // The list of this page stays as it was until it asks for the endpoint itself.
  let isStale = true;
  await page.route(/\/webhook-endpoints$/, (route) =>
    isStale ? route.fulfill({ json: { items: [] } }) : route.fallback(),
  );
  await page.route(/\/webhook-endpoints\/desk$/, (route) => {
    isStale = false;
    return route.fallback();
  });
  const made = await caller.send('PUT', '/v1/vision/webhook-endpoints/desk', {
    body: JSON.stringify({ url: `${address()}theirs` }),
    headers: { 'content-type': 'application/json' },
  });
  expect(made.status).toBe(201);
  await page.getByLabel('Your name for the endpoint').fill('desk');
  await page.getByLabel('Address').fill(address());
  await page.getByRole('button', { name: 'Create the endpoint' }).click();
  await page.getByText('There is an endpoint of this name already').waitFor();
  const { body } = await caller.get('/v1/vision/webhook-endpoints/desk');
  expect(body).toMatchObject({ url: `${address()}theirs` });
  await visitor.close();
});

test('an address that is not allowed is said, and a name that is taken replaces nothing', async () => {
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn((await Caller.create()).key);
  await go('#/webhooks');
  await page.getByLabel('Your name for the endpoint').fill('desk');
  await page.getByLabel('Address').fill('https://user:secret@hooks.example.org/');
  await page.getByRole('button', { name: 'Create the endpoint' }).click();
  await page.getByText('may not hold a user name or password').waitFor();
  await page.getByLabel('Address').fill(address());
  await page.getByRole('button', { name: 'Create the endpoint' }).click();
  await page.getByRole('link', { name: 'Back to webhooks' }).click();
  await page.getByLabel('Your name for the endpoint').fill('desk');
  await page.getByText('There is an endpoint of this name already').waitFor();
  await page.getByLabel('Address').fill(address());
  expect(await page.getByRole('button', { name: 'Create the endpoint' }).isDisabled()).toBe(true);
  await visitor.close();
});

test('a key without the scope is told so calmly, on webhooks and on alarms', async () => {
  const { body } = await admin('POST', '/admin/v1/keys', { name: 'browser', scopes: ['read'] });
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(String(body['key']));
  await go('#/webhooks');
  await page.getByText('lacks the scope “notify”').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await inspect(visitor, 'webhooks-scope-missing');
  await go('#/alarms');
  await page.getByText('No alarm is open').waitFor();
  await go('#/alarms/new-rule');
  await page.getByText('lacks the scope “notify”').waitFor();
  expect(await page.getByRole('button', { name: 'Save the rule' }).isDisabled()).toBe(true);
  await visitor.close();
});
