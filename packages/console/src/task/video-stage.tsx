import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { TroubleNotice } from '../components/notice.tsx';
import type { Trouble } from '../lib/trouble.ts';
import { noteTrouble } from '../state/session.ts';
import { LINK_S, linkOf } from '../state/video-link.ts';
import { t } from '../strings.ts';
import { Frame } from './frame.tsx';
import type { TaskView } from './task-view.ts';
import { useFrames } from './use-frames.ts';

/** A link that is older than this is renewed when the video fails. */
const OLD_MS = (LINK_S - 300) * 1000;

/** The uploaded video, with the boxes of the frame that it shows. */
export function VideoStage({ view }: { view: TaskView }): JSX.Element {
  const video = useRef<HTMLVideoElement>(null);
  const { url, failure, trouble, onError } = useLink(view, video);
  const framesTrouble = useFrames(view);
  useEffect(() => {
    if (view.position.peek() === undefined) view.position.value = 0;
    return video.current ? followVideo(video.current, view) : undefined;
  }, [url]);
  const chosen = view.chosen.value;
  useEffect(() => {
    if (!chosen) return;
    view.position.value = chosen.ms;
    if (video.current && !failure) video.current.currentTime = chosen.ms / 1000;
  }, [chosen]);
  const onSize = () => {
    const { videoWidth: width = 0, videoHeight: height = 0 } = video.current ?? {};
    if (width > 0 && height > 0) view.shape.value = { width, height };
  };
  const media = (
    <video
      ref={video}
      src={url}
      controls
      playsInline
      muted
      preload="auto"
      aria-label={t.task.video}
      onLoadedMetadata={onSize}
      onError={onError}
    />
  );
  return (
    <>
      <Frame view={view} media={url === undefined || failure ? null : media}>
        {failure ?? (url === undefined ? t.loading : undefined)}
      </Frame>
      <TroubleNotice trouble={trouble ?? framesTrouble} />
    </>
  );
}

function useLink(view: TaskView, video: { current: HTMLVideoElement | null }) {
  const { taskId, client } = view;
  const url = useSignal<string | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const madeAt = useRef(0);
  const make = async () => {
    try {
      const link = await linkOf(client, taskId);
      const at = video.current?.currentTime ?? 0;
      madeAt.current = performance.now();
      url.value = link;
      // The position survives the change of its link.
      if (at > 0) view.chosen.value = { ms: at * 1000 };
    } catch (error) {
      trouble.value = noteTrouble(error);
    }
  };
  useEffect(() => void make(), [taskId]);
  const onError = () => {
    if (performance.now() - madeAt.current > OLD_MS) {
      void make();
      return;
    }
    const isGone = video.current?.error?.code === MediaError.MEDIA_ERR_NETWORK;
    failure.value = isGone ? t.task.videoGone : t.task.cannotPlay(view.source.value.value?.codec ?? '');
  };
  return { url: url.value, failure: failure.value, trouble: trouble.value, onError };
}

/** Follows the frames that the video shows, by their own times; returns how to stop. */
function followVideo(video: HTMLVideoElement, view: TaskView): () => void {
  let handle = 0;
  const note = (seconds: number) => (view.position.value = Math.round(seconds * 1000));
  const onFrame: VideoFrameRequestCallback = (_now, { mediaTime }) => {
    note(mediaTime);
    handle = video.requestVideoFrameCallback(onFrame);
  };
  if ('requestVideoFrameCallback' in video) {
    handle = video.requestVideoFrameCallback(onFrame);
    return () => video.cancelVideoFrameCallback(handle);
  }
  const element: HTMLVideoElement = video;
  const onTime = () => note(element.currentTime);
  element.addEventListener('timeupdate', onTime);
  return () => element.removeEventListener('timeupdate', onTime);
}
