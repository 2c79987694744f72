/** Asks before something is done that others feel. */

export interface Question {
  title: string;
  text: string;
  /** What the button says that does it. */
  deed: string;
  act: () => void;
}

export const asked = $state<{ question: Question | null }>({ question: null });
