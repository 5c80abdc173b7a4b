import type { Cluster } from './cluster.ts';

/** An API key of a subject that no daily quota stops. */
export async function newKey(adminUrl: string, cluster: Cluster): Promise<string> {
  const token = cluster.stored['vision-generated-secrets']?.['admin-token'];
  if (typeof token !== 'string') throw new Error('The chart made no admin token.');
  const ask = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const reply = await fetch(`${adminUrl}/admin/v1${path}`, { method, headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`);
    return reply.json();
  };
  const { key, subject } = (await ask('POST', '/keys', { name: 'rolling upgrade' })) as {
    key: string;
    subject: string;
  };
  await ask('PUT', `/subjects/${subject}/limits`, { images_per_day: 100_000, video_tasks_per_day: 10_000 });
  return key;
}
