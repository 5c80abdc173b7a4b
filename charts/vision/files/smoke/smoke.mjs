// `helm test`: with a key of its own, one picture and one short video through the gateway, and its event. Ends with 1
// and one sentence when something is not as it should be. The key is revoked in any case.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const { BASE_URL, ADMIN_URL, ADMIN_TOKEN, SCENE_CODE } = process.env;
const files = import.meta.dirname;
const deadline = Date.now() + Number(process.env.TIMEOUT_SECONDS) * 1000;
const admin = { authorization: `Bearer ${ADMIN_TOKEN.split(',')[0].trim()}` };

const { key, key_id: keyId } = await made();
let failed = false;
try {
  await showPicture();
  await showVideo();
  console.log('ok');
} catch (error) {
  failed = true;
  console.error(error instanceof Error ? error.message : error);
} finally {
  await ask(`${ADMIN_URL}/admin/v1/keys/${keyId}`, { method: 'DELETE', headers: admin });
}
process.exitCode = failed ? 1 : 0;

async function made() {
  try {
    const body = JSON.stringify({ name: 'helm test', subject: `helm-test-${randomUUID()}` });
    const headers = { ...admin, 'content-type': 'application/json' };
    return await ask(`${ADMIN_URL}/admin/v1/keys`, { method: 'POST', headers, body });
  } catch (error) {
    console.error(`No API key could be made: ${error.message}`);
    process.exit(1);
  }
}

async function showPicture() {
  const { results } = await upload('/v1/vision/image-detections', 'files', 'picture.jpg', 'image/jpeg');
  const [result] = results;
  if (result.status !== 'succeeded') throw new Error(`The picture failed: ${result.error_code}`);
  console.log(`picture: ${result.objects.length} objects`);
}

async function showVideo() {
  const task = await upload('/v1/vision/video-tasks', 'file', 'video.mp4', 'video/mp4');
  let status = task.status;
  while (['submitting', 'resolving', 'running', 'stopping'].includes(status)) {
    if (Date.now() > deadline) throw new Error(`The video task is still ${status}.`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    status = (await call('GET', `/v1/vision/tasks/${task.task_id}`)).status;
  }
  if (status !== 'succeeded') throw new Error(`The video task ended as ${status}.`);
  const { items } = await call('GET', `/v1/vision/tasks/${task.task_id}/results?limit=100`);
  if (items.length === 0) throw new Error('The video task has no frames.');
  console.log(`video: ${items.length} frames`);
  await showEvent(task.task_id);
}

// The way that webhooks and MQTT messages take too: from the task over Kafka into the event log.
async function showEvent(taskId) {
  for (;;) {
    const { items } = await call('GET', '/v1/vision/events?types=task.succeeded');
    if (items.some(({ data }) => data.task.task_id === taskId)) break;
    if (Date.now() > deadline) throw new Error('The end of the video task is not in the event log.');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  console.log('event: the end of the video task');
}

async function upload(path, field, name, type) {
  const form = new FormData();
  form.set('scene_code', SCENE_CODE);
  form.set(field, new Blob([await readFile(join(files, name))], { type }), name);
  return call('POST', path, form);
}

function call(method, path, body) {
  const headers = { authorization: `Bearer ${key}` };
  if (method === 'POST') headers['idempotency-key'] = randomUUID();
  return ask(BASE_URL + path, { method, headers, body });
}

async function ask(url, options) {
  const reply = await fetch(url, { ...options, signal: AbortSignal.timeout(Math.max(1, deadline - Date.now())) });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${options.method} ${new URL(url).pathname} answered ${reply.status}: ${text}`);
  return text === '' ? {} : JSON.parse(text);
}
