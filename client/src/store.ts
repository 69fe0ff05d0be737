/** Keeps values that can be cloned, by key. */
export interface Store {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
}

/** Keeps nothing. */
export const NO_STORE: Store = {
  get: async () => undefined,
  set: async () => undefined,
};
