import { useEffect, useMemo } from 'preact/hooks';

/** Addresses of files that the page shows, for as long as it shows them. */
export function useUrls(files: readonly Blob[]): string[] {
  const urls = useMemo(() => files.map((file) => URL.createObjectURL(file)), [files]);
  useEffect(() => () => urls.forEach((url) => URL.revokeObjectURL(url)), [urls]);
  return urls;
}
