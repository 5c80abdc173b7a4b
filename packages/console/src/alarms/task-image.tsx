import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { isActive } from '../components/status.tsx';
import { dataOf } from '../state/data.ts';
import { useSession } from '../state/session.ts';
import { canStillCome } from '../state/snapshots.ts';
import { useLoaded } from '../state/use-loaded.ts';
import type { TaskEntry } from '../state/use-tasks.ts';
import { useUrls } from '../state/use-urls.ts';
import { useVideoLink } from '../state/video-link.ts';
import type { VideoLink } from '../state/video-link.ts';
import { t } from '../strings.ts';
import type { RuleEditor } from './rule-editor.ts';

const EVERY_MS = 3_000;

interface TaskImage {
  media: JSX.Element | null;
  /** Width by height. */
  aspect: number;
  /** Why there is no image. */
  note: string | undefined;
}

/** What a task sees: the newest frame of a stream, or the frame of a video at a moment. */
export function useTaskImage({ task, source: { value }, moment }: RuleEditor): TaskImage {
  const source = value.value;
  const isUpload = source?.kind === 'upload';
  const size = useSignal<number | undefined>(undefined);
  const isBroken = useSignal(false);
  const link = useVideoLink(isUpload ? task?.task_id : undefined);
  const snapshot = useSnapshot(source && !isUpload ? task : undefined);
  useEffect(() => {
    size.value = undefined;
    isBroken.value = false;
  }, [task?.task_id]);
  const { width, height } = source?.image ?? { width: 16, height: 9 };
  const aspect = size.value ?? width / height;
  const url = isUpload ? link.url : snapshot.url;
  const isMissing = isUpload ? Boolean(link.fault ?? link.trouble) : snapshot.isMissing || isBroken.value;
  if (url === undefined || link.fault || isBroken.value)
    return { media: null, aspect, note: isMissing ? t.shape.noImage : undefined };
  if (isUpload) {
    const onSize = (shape: number) => (size.value = shape);
    return { media: <Still link={link} atMs={moment.value} onSize={onSize} />, aspect, note: undefined };
  }
  const onError = () => (isBroken.value = true);
  return { media: <img src={url} alt={t.shape.image} draggable={false} onError={onError} />, aspect, note: undefined };
}

function useSnapshot(task: TaskEntry | undefined): { url: string | undefined; isMissing: boolean } {
  const { client } = useSession();
  const { value, trouble } = useLoaded({
    key: task?.task_id ?? '',
    load: async (signal) => {
      if (!task) return undefined;
      const options = { params: { path: { task_id: task.task_id } }, signal, parseAs: 'blob' } as const;
      return dataOf(await client.api.GET('/v1/vision/tasks/{task_id}/live-snapshot', options));
    },
    everyMs: (_image, refusal) => (task && isActive(task.status) && canStillCome(refusal) ? EVERY_MS : undefined),
  });
  const image = value.value;
  const files = useMemo(() => (image ? [image] : []), [image]);
  const [url] = useUrls(files);
  return { url, isMissing: trouble.value !== undefined && url === undefined };
}

interface StillProps {
  link: VideoLink;
  atMs: number;
  onSize: (aspect: number) => void;
}

/** One frame of a video. */
function Still({ link, atMs, onSize }: StillProps): JSX.Element {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (video.current) video.current.currentTime = atMs / 1000;
  }, [atMs]);
  return (
    <video
      ref={video}
      src={link.url}
      muted
      playsInline
      preload="auto"
      tabIndex={-1}
      aria-label={t.shape.image}
      onLoadedMetadata={({ currentTarget: element }) => {
        const { videoWidth: width, videoHeight: height } = element;
        if (width > 0 && height > 0) onSize(width / height);
        else link.onBlind();
        element.currentTime = atMs / 1000;
      }}
      onError={({ currentTarget }) => link.onError(currentTarget)}
    />
  );
}
