import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { LinkKeeper, stateOfLink } from '../lib/link-keeper.ts';
import type { VideoFault } from '../lib/link-keeper.ts';
import type { Trouble } from '../lib/trouble.ts';
import { dataOf } from './data.ts';
import { noteTrouble, useSession } from './session.ts';

/** How long a link is valid. */
const LINK_S = 3600;

export interface VideoLink {
  /** Undefined before the first one. */
  url: string | undefined;
  fault: VideoFault | undefined;
  /** Problem of the last attempt to get a link; undefined once it is resolved. */
  trouble: Trouble | undefined;
  /** Called when a video fails to play. */
  onError: (video: HTMLVideoElement) => void;
  /** Called when this browser plays the sound of a video but cannot decode its frames. */
  onBlind: () => void;
}

/** An address of an uploaded video, which a `<video>` can read without a key; it is renewed when it no longer works. */
export function useVideoLink(taskId: string | undefined): VideoLink {
  const { client } = useSession();
  const url = useSignal<string | undefined>(undefined);
  const fault = useSignal<VideoFault | undefined>(undefined);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const keeper = useRef<LinkKeeper | undefined>(undefined);
  useEffect(() => {
    url.value = fault.value = trouble.value = undefined;
    if (taskId === undefined) return undefined;
    const left = new AbortController();
    const { signal } = left;
    const body = { path: `/v1/vision/tasks/${taskId}/video`, expires_in_s: LINK_S };
    const own = new LinkKeeper({
      make: async () => dataOf(await client.api.POST('/v1/vision/links', { body, signal })).url,
      ask: (link, wasCut) => stateOfLink(new URL(link, location.href).href, wasCut, (request) => fetch(request)),
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      onLink: (link) => (url.value = link),
      onFault: (found) => (fault.value = found),
      onProblem: (error) => (trouble.value = error === undefined ? undefined : noteTrouble(error)),
    });
    keeper.current = own;
    void own.renew();
    return () => {
      own.end();
      left.abort();
    };
  }, [client, taskId]);
  return {
    url: url.value,
    fault: fault.value,
    trouble: trouble.value,
    onError: ({ error }) => void keeper.current?.failed(error?.code === MediaError.MEDIA_ERR_NETWORK),
    onBlind: () => (fault.value = 'unplayable'),
  };
}
