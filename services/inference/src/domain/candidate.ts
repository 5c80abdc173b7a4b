/** A box that a model proposes, by its corners in pixels of the model's input. */
export interface Candidate {
  /** Index into the classes of the model. */
  classIndex: number;
  score: number;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Output of a model as plain numbers. */
export interface OutputTensor {
  shape: readonly number[];
  data: ArrayLike<number>;
}

/** What a decoder needs beside the tensors. */
export interface DecodeOptions {
  minScore: number;
  /** Indices of the classes that are asked for. */
  wanted: readonly number[];
}

/** An output that the registry names is missing or has another shape than described. */
export class ModelOutputError extends Error {
  override readonly name = 'ModelOutputError';
}

/** The named output. @throws ModelOutputError when the model did not return it. */
export function outputOf(outputs: Readonly<Record<string, OutputTensor>>, name: string): OutputTensor {
  const output = outputs[name];
  if (output === undefined) throw new ModelOutputError(`the model returned no output ${name}`);
  return output;
}

/** Checks that an output is `[1, rows, columns]` and returns both. */
export function matrixOf(output: OutputTensor, name: string): { rows: number; columns: number } {
  const [batch = 0, rows = 0, columns = 0] = output.shape;
  if (output.shape.length !== 3 || batch !== 1 || output.data.length !== rows * columns) {
    throw new ModelOutputError(
      `output ${name} has the shape [${output.shape.join(', ')}], expected [1, rows, columns]`,
    );
  }
  return { rows, columns };
}
