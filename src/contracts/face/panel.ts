/** A list to search, to move in and to change things from: plain data for whichever face shows it. */
export type Panel = {
  readonly title: string;
  /** The command line that makes it; run again after each change. */
  readonly line: string;
  /** Changes by itself, so it is made anew every second. */
  readonly isLive?: true;
  /** What holds for all of it, in one line. */
  readonly note?: string;
  readonly rows: readonly PanelRow[];
  /** Said where there is no row. */
  readonly empty: string;
  /** What can be done wherever the cursor stands. */
  readonly acts: readonly PanelAct[];
};

export type PanelRow = {
  readonly id: string;
  /** Rows of one group follow one another. */
  readonly group?: string;
  readonly cells: readonly string[];
  readonly mark?: PanelMark;
  /** How much of a whole it is, from 0 to 1: drawn as a bar behind the cells. */
  readonly share?: number;
  /** Shown while the cursor is on it. */
  readonly detail: readonly string[];
  readonly acts: readonly PanelAct[];
};

/** `current` is what holds now: it is marked, and under the cursor at first. */
export type PanelMark = 'current' | 'good' | 'bad' | 'waiting' | 'off';

/** Something that can be done in a panel. Each is a command line, so it can be typed as well. */
export type PanelAct =
  | {
      readonly kind: 'run';
      readonly key: PanelKey;
      readonly label: string;
      readonly line: string;
      /** A choice is made, and the panel closes. */
      readonly closes?: true;
      /** What a second press of the key will do, where the first only asks. */
      readonly sure?: string;
    }
  /** Words are written in place and stand behind the line. */
  | {
      readonly kind: 'write';
      readonly key: PanelKey;
      readonly label: string;
      readonly line: string;
      readonly words: string;
    }
  /** Left and right go through the values; the new one stands behind the line. */
  | {
      readonly kind: 'turn';
      readonly label: string;
      readonly line: string;
      readonly values: readonly string[];
      readonly value: string;
    };

/** Letters search, so what is done has other keys. */
export type PanelKey = 'enter' | 'ctrl+a' | 'ctrl+d' | 'ctrl+e' | 'ctrl+o' | 'ctrl+r' | 'ctrl+t';
