/**
 * Rule of this folder: a view only takes away. What it doesn't understand, or can't check, it refuses, and the tool
 * behind a view that can't be used stays hidden.
 */
export { type ApplyOptions, applyView, viewReason, viewSummary } from './apply-view.ts';
export { parseView } from './parse-view.ts';
export { type ArgumentOptions, type ForCaller, type View, type ViewOptions, view } from './view.ts';
export { expectedOf, reviewOf, type ViewPins } from './view-pins.ts';
export { type ViewReview, type ViewReviews, type ViewReviewsOptions, viewReviews } from './view-reviews.ts';
export { createViewSet, type ViewOutcome, type ViewSet, type ViewSetOptions } from './view-set.ts';
export { withViews } from './with-views.ts';
