/**
 * Constant-velocity Kalman filter of one coordinate. A box is followed by four of them (centre x, centre y, width,
 * height): with diagonal noise the 8-state filter of SORT and ByteTrack falls apart into exactly these four, so no
 * matrix library is needed. Time is real elapsed seconds, not frames.
 *
 * Sources: R. E. Kalman, "A New Approach to Linear Filtering and Prediction Problems" (1960); A. Bewley et al., "Simple
 * Online and Realtime Tracking" (2016) for the model; Y. Bar-Shalom et al., "Estimation with Applications to Tracking
 * and Navigation" (2001), §6.2.2, for the process noise of white-noise acceleration.
 */
export interface AxisState {
  /** Position or size, in parts of the image's side. */
  value: number;
  /** Change of `value` per second. */
  velocity: number;
  /** Covariance: variance of the value, of the velocity, and between them. */
  varValue: number;
  varVelocity: number;
  covariance: number;
}

/** State after the first measurement: velocity unknown, hence zero with a wide variance. */
export function startAxis(value: number, valueStd: number, velocityStd: number): AxisState {
  return { value, velocity: 0, varValue: valueStd ** 2, varVelocity: velocityStd ** 2, covariance: 0 };
}

/** How freely a coordinate moves; both in parts of the image's side, for a second. */
interface Freedom {
  /** Of the value by itself: swaying, steps, a camera that shakes. Its speed stays what it is. */
  drift: number;
  /** Of the velocity. */
  turn: number;
}

/** State `seconds` later. */
export function predictAxis(state: AxisState, seconds: number, { drift, turn }: Freedom): AxisState {
  const noise = turn ** 2;
  return {
    value: state.value + state.velocity * seconds,
    velocity: state.velocity,
    varValue:
      state.varValue +
      2 * seconds * state.covariance +
      seconds ** 2 * state.varVelocity +
      seconds * drift ** 2 +
      (noise * seconds ** 3) / 3,
    varVelocity: state.varVelocity + noise * seconds,
    covariance: state.covariance + seconds * state.varVelocity + (noise * seconds ** 2) / 2,
  };
}

/** State after a measurement whose error has the standard deviation `measuredStd`. */
export function correctAxis(state: AxisState, measured: number, measuredStd: number): AxisState {
  const innovation = measured - state.value;
  const spread = state.varValue + measuredStd ** 2;
  const gainValue = state.varValue / spread;
  const gainVelocity = state.covariance / spread;
  return {
    value: state.value + gainValue * innovation,
    velocity: state.velocity + gainVelocity * innovation,
    varValue: (1 - gainValue) * state.varValue,
    varVelocity: state.varVelocity - gainVelocity * state.covariance,
    covariance: (1 - gainValue) * state.covariance,
  };
}
