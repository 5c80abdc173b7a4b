/** An upload that has not been answered, so that the same file goes on under the same request after a reload. */
export interface PendingUpload {
  name: string;
  size: number;
  lastModified: number;
  sceneCode: string;
  clientRef: string;
  hasSnapshots: boolean;
  requestKey: string;
}

const STORAGE = 'vision-upload';
type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export function readPending(store: Store): PendingUpload | undefined {
  try {
    const value: unknown = JSON.parse(store.getItem(STORAGE) ?? 'null');
    return isPending(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const writePending = (store: Store, pending: PendingUpload) => store.setItem(STORAGE, JSON.stringify(pending));

export const clearPending = (store: Store) => store.removeItem(STORAGE);

interface Chosen {
  file: Pick<File, 'name' | 'size' | 'lastModified'> | undefined;
  scene: string;
  name: string;
  hasSnapshots: boolean;
}

/**
 * Whether what is chosen is the upload that was not answered. What differs is another request, which the service
 * refuses under the same key.
 */
export const isContinued = (pending: PendingUpload, { file, scene, name, hasSnapshots }: Chosen) =>
  file !== undefined &&
  pending.name === file.name &&
  pending.size === file.size &&
  pending.lastModified === file.lastModified &&
  pending.sceneCode === scene &&
  pending.clientRef === name &&
  pending.hasSnapshots === hasSnapshots;

const isPending = (value: unknown): value is PendingUpload =>
  typeof value === 'object' && value !== null && 'requestKey' in value && 'sceneCode' in value && 'name' in value;
