import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { TroubleNotice } from '../components/notice.tsx';
import { canDecode } from '../lib/can-decode.ts';
import { short } from '../lib/format.ts';
import type { VideoFault } from '../lib/link-keeper.ts';
import { useTrackImage } from '../state/track-image.ts';
import { useVideoLink } from '../state/video-link.ts';
import { t } from '../strings.ts';
import { Frame } from './frame.tsx';
import type { TaskView } from './task-view.ts';
import { useFrames } from './use-frames.ts';

/** The uploaded video, with the boxes of the frame that it shows; where it cannot be played, the chosen track. */
export function VideoStage({ view }: { view: TaskView }): JSX.Element {
  const isPlayable = usePlayable(view);
  const link = useVideoLink(isPlayable === true ? view.taskId : undefined);
  const fault = isPlayable === false ? 'unplayable' : link.fault;
  const framesTrouble = useFrames(view);
  const image = useTrackImage(view.taskId, fault && view.chosen.value?.track);
  const video = useVideo(view, link.url);
  const chosen = view.chosen.value;
  useEffect(() => {
    if (!chosen) return;
    view.position.value = chosen.ms;
    if (video.ref.current) video.ref.current.currentTime = chosen.ms / 1000;
  }, [chosen]);
  const media = (
    <video
      ref={video.ref}
      src={link.url}
      controls
      playsInline
      muted
      preload="auto"
      aria-label={t.task.video}
      onLoadedMetadata={({ currentTarget }) => {
        const { videoWidth: width, videoHeight: height } = currentTarget;
        if (width > 0 && height > 0) view.shape.value = { width, height };
        // Sound alone is played of a video whose codec is not known here.
        else link.onBlind();
        video.goOn();
      }}
      onError={({ currentTarget }) => {
        video.pause();
        link.onError(currentTarget);
      }}
    />
  );
  const text = fault && textOf(fault, view);
  if (image !== undefined) return <TrackStage view={view} url={image} text={text} trouble={framesTrouble} />;
  return (
    <>
      <Frame view={view} media={link.url === undefined || fault ? null : media}>
        {text ?? (link.url === undefined ? t.loading : undefined)}
      </Frame>
      <TroubleNotice trouble={(fault ? undefined : link.trouble) ?? framesTrouble} />
    </>
  );
}

function textOf(fault: VideoFault, { source }: TaskView): string {
  return fault === 'gone' ? t.task.videoGone : t.task.cannotPlay(source.value.value?.codec ?? '');
}

/** Whether this browser can play the video; undefined while it is asked. */
function usePlayable({ source: { value } }: TaskView): boolean | undefined {
  const isPlayable = useSignal<boolean | undefined>(undefined);
  const { codec, image } = value.value ?? {};
  useEffect(() => {
    let isCurrent = true;
    const capabilities = navigator.mediaCapabilities as MediaCapabilities | undefined;
    void canDecode({ codec, image }, capabilities).then((can) => {
      if (isCurrent) isPlayable.value = can;
    });
    return () => (isCurrent = false);
  }, [codec]);
  return isPlayable.value;
}

/** The element that plays: it follows the position, and goes on where it was when its link is another one. */
function useVideo(view: TaskView, url: string | undefined) {
  const ref = useRef<HTMLVideoElement>(null);
  const wasPlaying = useRef(false);
  useEffect(() => {
    if (view.position.peek() === undefined) view.position.value = 0;
    return ref.current ? followVideo(ref.current, view) : undefined;
  }, [url]);
  return {
    ref,
    pause: () => (wasPlaying.current ||= ref.current?.paused === false),
    goOn: () => {
      const element = ref.current;
      const atMs = view.position.peek() ?? 0;
      if (!element) return;
      if (atMs > 0) element.currentTime = atMs / 1000;
      // The viewer may have left meanwhile.
      if (wasPlaying.current) element.play().catch(() => undefined);
      wasPlaying.current = false;
    },
  };
}

interface TrackStageProps {
  view: TaskView;
  url: string;
  text: string | undefined;
  trouble: ReturnType<typeof useFrames>;
}

/** The image of a track: a part of its frame, so the boxes of the frame are not drawn on it. */
function TrackStage({ view, url, text, trouble }: TrackStageProps): JSX.Element {
  const label = short(view.chosen.value?.track?.label ?? '', 40);
  return (
    <>
      <Frame view={view} hasBoxes={false} media={<img class="part" src={url} alt={t.task.trackImage(label)} />} />
      <p class="stage-note">{text}</p>
      <TroubleNotice trouble={trouble} />
    </>
  );
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
