import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

interface DropZoneProps {
  onFiles: (files: File[]) => void;
  accept: string;
  text: string;
  /** What follows it, in the second place. */
  hint: string;
  isMultiple?: boolean;
  isDisabled?: boolean;
}

/** Takes files from a dialog, and those that are dropped on it. */
export function DropZone({
  onFiles,
  accept,
  text,
  hint,
  isMultiple = false,
  isDisabled = false,
}: DropZoneProps): JSX.Element {
  const isOver = useSignal(false);
  const take = (list: FileList | null | undefined) => {
    const files = [...(list ?? [])];
    if (files.length > 0 && !isDisabled) onFiles(isMultiple ? files : files.slice(0, 1));
  };
  return (
    <label
      class={isOver.value ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        take(event.dataTransfer?.files);
      }}
    >
      <input
        type="file"
        class="hidden"
        accept={accept}
        multiple={isMultiple}
        disabled={isDisabled}
        onChange={(event) => {
          take(event.currentTarget.files);
          // The same file can be chosen again.
          event.currentTarget.value = '';
        }}
      />
      <span class="drop-text">{text}</span> <span class="dim">{hint}</span>
    </label>
  );
}
