/** Slices cut out of buffers while `work` runs: unlike a duration, it does not depend on the load of the machine. */
export function piecesMade(work: () => void): number {
  const prototype = Buffer.prototype as { subarray: Buffer['subarray'] };
  const cut = prototype.subarray;
  let count = 0;
  prototype.subarray = function (this: Buffer, start?: number, end?: number) {
    count += 1;
    return cut.call(this, start, end);
  };
  try {
    work();
  } finally {
    prototype.subarray = cut;
  }
  return count;
}
