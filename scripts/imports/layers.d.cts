export declare const LAYERS: readonly (readonly string[])[];
