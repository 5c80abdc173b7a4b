import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { dataOf } from './data.ts';
import { useSession } from './session.ts';

const LINK_S = 3600;

/** An address of an uploaded video, which a `<video>` can read without a key; undefined for any other task. */
export function useVideoLink(taskId: string | undefined): string | undefined {
  const { client } = useSession();
  const url = useSignal<string | undefined>(undefined);
  useEffect(() => {
    url.value = undefined;
    if (taskId === undefined) return undefined;
    const ended = new AbortController();
    const body = { path: `/v1/vision/tasks/${taskId}/video`, expires_in_s: LINK_S };
    client.api
      .POST('/v1/vision/links', { body, signal: ended.signal })
      .then((answer) => (url.value = dataOf(answer).url))
      // Without the video there is an empty image, which the page says.
      .catch(() => undefined);
    return () => ended.abort();
  }, [taskId]);
  return url.value;
}
