import { useSignal } from '@preact/signals';
import type { VisionClient } from '@vision/client';
import { useEffect } from 'preact/hooks';
import { dataOf } from './data.ts';
import { useSession } from './session.ts';

/** How long a link is valid. */
export const LINK_S = 3600;

/** An address of an uploaded video, which a `<video>` can read without a key. */
export async function linkOf(client: VisionClient, taskId: string, signal?: AbortSignal): Promise<string> {
  const body = { path: `/v1/vision/tasks/${taskId}/video`, expires_in_s: LINK_S };
  return dataOf(await client.api.POST('/v1/vision/links', { body, ...(signal ? { signal } : {}) })).url;
}

/** The link of an uploaded video; undefined for any other task. */
export function useVideoLink(taskId: string | undefined): string | undefined {
  const { client } = useSession();
  const url = useSignal<string | undefined>(undefined);
  useEffect(() => {
    url.value = undefined;
    if (taskId === undefined) return undefined;
    const ended = new AbortController();
    linkOf(client, taskId, ended.signal)
      .then((link) => (url.value = link))
      // Without the video there is an empty image, which the page says.
      .catch(() => undefined);
    return () => ended.abort();
  }, [taskId]);
  return url.value;
}
