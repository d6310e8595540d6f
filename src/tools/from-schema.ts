/** Makes an intersection read as one object type. */
type Flat<T> = { [K in keyof T]: T[K] };
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface NamedTypes {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

type RequiredOf<S> = S extends { readonly required: readonly (infer K)[] } ? K : never;

type ObjectOf<S, P> = Flat<
  { -readonly [K in keyof P as K extends RequiredOf<S> ? K : never]: FromSchema<P[K]> } & {
    -readonly [K in keyof P as K extends RequiredOf<S> ? never : K]?: FromSchema<P[K]>;
  }
>;

type TupleOf<T extends readonly unknown[]> = Mutable<{ [K in keyof T]: FromSchema<T[K]> }>;

type OfType<S, T> = T extends keyof NamedTypes
  ? NamedTypes[T]
  : T extends 'array'
    ? S extends { readonly prefixItems: infer P extends readonly unknown[] }
      ? TupleOf<P>
      : S extends { readonly items: infer I }
        ? FromSchema<I>[]
        : unknown[]
    : T extends 'object'
      ? S extends { readonly properties: infer P }
        ? ObjectOf<S, P>
        : S extends { readonly additionalProperties: infer A }
          ? { [key: string]: A extends boolean ? unknown : FromSchema<A> }
          : { [key: string]: unknown }
      : unknown;

/**
 * The static type of a JSON Schema written `as const`: `const`, `enum`, `type` (also a list), `properties` with
 * `required`, `items`, `prefixItems`, `additionalProperties`, `anyOf`, `oneOf`. Whatever it doesn't read is `unknown`.
 */
export type FromSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer M)[] }
      ? FromSchema<M>
      : S extends { readonly oneOf: readonly (infer M)[] }
        ? FromSchema<M>
        : S extends { readonly type: readonly (infer T)[] }
          ? OfType<S, T>
          : S extends { readonly type: infer T }
            ? OfType<S, T>
            : unknown;
