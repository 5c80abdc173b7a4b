import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { VisionError } from '@vision/client';
import type { UploadProgress, VisionClient } from '@vision/client';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ActionButton } from '../components/action-button.tsx';
import { DropZone } from '../components/drop-zone.tsx';
import { Check, SceneChoice, TextField } from '../components/fields.tsx';
import { TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { ScopeNotice } from '../components/scope-notice.tsx';
import { bytes, short } from '../lib/format.ts';
import { clearPending, isContinued, readPending, writePending } from '../lib/pending-upload.ts';
import type { PendingUpload } from '../lib/pending-upload.ts';
import { hrefOf } from '../lib/route.ts';
import type { Trouble } from '../lib/trouble.ts';
import { newRequestKey } from '../state/request-key.ts';
import { firstScene } from '../state/scenes.ts';
import { missingScopes, noteActivity, noteTrouble, useSession } from '../state/session.ts';
import { t } from '../strings.ts';

const MOST_BYTES = 512 * 1024 * 1024;
/** The page was left: the upload can be continued. */
const LEFT = new DOMException('the page was left', 'AbortError');

interface Form {
  file: File | undefined;
  scene: string;
  name: string;
  hasSnapshots: boolean;
  requestKey: string;
}

interface Upload {
  form: Signal<Form>;
  change: (changes: Partial<Form>) => void;
  progress: Signal<UploadProgress | undefined>;
  trouble: Signal<Trouble | undefined>;
  note: Signal<string>;
  isResumable: Signal<boolean>;
  send: () => Promise<void>;
  cancel: () => void;
}

/** Uploads a video and creates a task for it. */
export function NewUploadPage(): JSX.Element {
  const upload = useUpload();
  const { form, change, progress, trouble, note, isResumable, send, cancel } = upload;
  const { file, scene, name, hasSnapshots } = form.value;
  const isSending = progress.value !== undefined;
  const mayCreate = !missingScopes.value.has('create');
  return (
    <Page title={t.newUpload.title} lead={t.newUpload.cost}>
      <ScopeNotice scope="create" />
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <DropZone
          accept="video/mp4,video/quicktime,.mp4,.mov"
          text={file ? `${short(file.name, 60)} · ${bytes(file.size)}` : t.newUpload.file}
          hint={t.newUpload.drop}
          isDisabled={isSending}
          onFiles={([chosen]) => change({ file: chosen })}
        />
        <p class="hint line" role="status">
          {note.value || t.newUpload.fileHint}
        </p>
        <SceneChoice
          name={t.newUpload.scene}
          value={scene}
          isDisabled={isSending}
          onChange={(next) => change({ scene: next })}
        />
        <TextField
          name={t.newUpload.name}
          value={name}
          hint={t.newStream.nameHint}
          pattern="[A-Za-z0-9._:\-]{1,64}"
          maxLength={64}
          isReadOnly={isSending}
          onInput={(next) => change({ name: next })}
        />
        <Check isChecked={hasSnapshots} isDisabled={isSending} onChange={(next) => change({ hasSnapshots: next })}>
          {t.newUpload.snapshots}
        </Check>
        <div class="row">
          <ActionButton isSubmit class="primary" isBusy={isSending} isOff={!file || scene === '' || !mayCreate}>
            {isResumable.value ? t.newUpload.resume : t.newUpload.create}
          </ActionButton>
          {isSending ? (
            <button type="button" onClick={cancel}>
              {t.newUpload.cancel}
            </button>
          ) : null}
        </div>
        <Progress progress={progress.value} />
        {mayCreate ? <TroubleNotice trouble={trouble.value} /> : null}
      </form>
    </Page>
  );
}

function Progress({ progress }: { progress: UploadProgress | undefined }): JSX.Element | null {
  if (!progress) return null;
  const { sentBytes, totalBytes } = progress;
  const isSent = totalBytes > 0 && sentBytes >= totalBytes;
  return (
    <div class="progress">
      <progress max={Math.max(1, totalBytes)} value={sentBytes} aria-label={t.newUpload.create} />
      <p class="line">{isSent ? t.newUpload.checking : t.newUpload.sent(bytes(sentBytes), bytes(totalBytes))}</p>
    </div>
  );
}

function useUpload(): Upload {
  const { client, scenes } = useSession();
  const pending = useRef(readPending(sessionStorage));
  const form = useSignal<Form>({
    file: undefined,
    scene: pending.current?.sceneCode ?? firstScene(scenes),
    name: pending.current?.clientRef ?? '',
    hasSnapshots: pending.current?.hasSnapshots ?? true,
    requestKey: newRequestKey(),
  });
  const isResumable = useSignal(false);
  const note = useSignal(pending.current ? t.newUpload.again(short(pending.current.name, 60)) : '');
  const sending = useSending(client);
  const { progress, trouble } = sending;

  const change = (changes: Partial<Form>) => {
    const isTooLarge = changes.file !== undefined && changes.file.size > MOST_BYTES;
    note.value = isTooLarge ? t.newUpload.tooLarge : '';
    trouble.value = undefined;
    if (isTooLarge) return;
    const before = form.value;
    // The name of the file serves until the viewer gives another one; an upload that goes on keeps what it had.
    const isOwnName = before.name !== '' && before.name !== nameFor(before.file);
    const isNamed = isOwnName || pending.current?.name === changes.file?.name;
    const name = isNamed ? before.name : nameFor(changes.file);
    const next = { ...before, ...(changes.file ? { name } : {}), ...changes, requestKey: newRequestKey() };
    const earlier = pending.current && isContinued(pending.current, next) ? pending.current : undefined;
    isResumable.value = earlier !== undefined;
    form.value = earlier ? { ...next, requestKey: earlier.requestKey } : next;
    if (earlier) note.value = t.newUpload.resumable;
  };
  const send = async () => {
    const { file, scene: sceneCode, name: clientRef, hasSnapshots, requestKey } = form.value;
    if (!file || progress.value) return;
    const { name, size, lastModified } = file;
    pending.current = { name, size, lastModified, sceneCode, clientRef, hasSnapshots, requestKey };
    writePending(sessionStorage, pending.current);
    const outcome = await sending.send(file, pending.current);
    if (outcome === 'left') return;
    isResumable.value = outcome === 'interrupted';
    if (isResumable.value) {
      note.value = t.newUpload.resumable;
      return;
    }
    // An answer is final: what is sent next is another request.
    clearPending(sessionStorage);
    pending.current = undefined;
    form.value = { ...form.value, requestKey: newRequestKey() };
  };
  const cancel = () => {
    sending.cancel();
    note.value = t.newUpload.cancelled;
  };
  return { form, change, progress, trouble, note, isResumable, send, cancel };
}

/** What the service takes of the name of a file, as the name of a task. */
const nameFor = (file: File | undefined) =>
  (file?.name ?? '')
    .replace(/[^A-Za-z0-9._:-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);

/** One upload at a time; it ends when the page is left. */
function useSending(client: VisionClient) {
  const progress = useSignal<UploadProgress | undefined>(undefined);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(LEFT), []);
  const send = async (file: File, { sceneCode, clientRef, hasSnapshots, requestKey }: PendingUpload) => {
    const attempt = new AbortController();
    running.current = attempt;
    progress.value = { sentBytes: 0, totalBytes: file.size };
    trouble.value = undefined;
    try {
      const { task_id: taskId } = await client.uploadVideo(file, {
        scene_code: sceneCode,
        idempotencyKey: requestKey,
        snapshots: hasSnapshots ? 'tracks' : 'off',
        signal: attempt.signal,
        ...(clientRef === '' ? {} : { client_ref: clientRef }),
        onProgress: (now) => {
          progress.value = now;
          noteActivity();
        },
      });
      location.hash = hrefOf({ page: 'task', taskId });
      return 'answered';
    } catch (error) {
      if (attempt.signal.reason === LEFT) return 'left';
      trouble.value = noteTrouble(error);
      // After these the task may have been created: the same key asks once more and costs nothing twice.
      const isUnclear = error instanceof VisionError && error.problem.retryable;
      return isUnclear || trouble.value?.reason === 'offline' ? 'interrupted' : 'answered';
    } finally {
      progress.value = undefined;
    }
  };
  return { progress, trouble, send, cancel: () => running.current?.abort() };
}
